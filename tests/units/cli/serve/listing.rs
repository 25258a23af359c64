//! Unit tests of `src/cli/serve/listing.rs`.

use super::*;
use std::path::Path;
use std::time::SystemTime;
use ui::state::link::Link;
use ui::text::url;

/// Creates an empty temporary folder.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-listing-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn listing(folder: &Path) -> Listing {
    Listing::new(&[folder.to_owned()]).unwrap()
}

/// Returns the file addresses in a link fragment, parsed as the page does.
fn links(fragment: &str) -> Vec<String> {
    Link::parse(fragment).urls
}

#[test]
fn special_characters_in_names_survive_urls() {
    let folder = folder("odd");
    let names =
        ["a b.pickle", "a#b?c.pickle", "100%25.pickle", "\"q\"'s</script>.pickle", "ä&url=x.pickle", "r/c:a.pickle"];
    for path in names.map(|name| folder.join(name)) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"x").unwrap();
    }
    let listing = listing(&folder);
    let listed = listing.current();
    assert_eq!(listed.files.len(), names.len());
    assert!(listed.fragment.bytes().all(|it| it.is_ascii_graphic() && !b"\"'<>#".contains(&it)), "{}", listed.fragment);
    let links = links(&listed.fragment);
    let mut found: Vec<String> = links.iter().map(|link| listing.find(link).unwrap().name).collect();
    let mut shown: Vec<String> = links.iter().map(|link| url::file_name(link)).collect();
    let mut names = names.map(str::to_owned).to_vec();
    [&mut found, &mut shown, &mut names].into_iter().for_each(|list| list.sort());
    assert_eq!((&found, &shown), (&names, &names));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn unlisted_paths_are_not_served() {
    let folder = folder("else");
    fs::write(folder.join("a.pickle"), b"x").unwrap();
    fs::write(folder.join("secret.png"), b"x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.join("passwd.pickle")).unwrap();
    let listing = listing(&folder);
    assert_eq!(listing.current().fragment, "url=0/a.pickle");
    assert!(listing.find("0/a.pickle").is_some());
    for path in
        ["", "0", "0/", "1/a.pickle", "-1/a.pickle", "0/../a.pickle", "0/secret.png", "../0/a.pickle", "0/a.pickle/"]
    {
        assert_eq!(listing.find(path), None, "{path}");
    }
    assert!(Listing::new(&[folder.join("none")]).is_err());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn addresses_are_stable_when_files_change() {
    let folder = folder("stay");
    fs::write(folder.join("b.pickle"), b"x").unwrap();
    let listing = listing(&folder);
    assert_eq!(listing.current().fragment, "url=0/b.pickle");
    fs::write(folder.join("a.pickle"), b"x").unwrap();
    let mut both = links(&listing.current().fragment);
    both.sort();
    assert_eq!(both, ["0/b.pickle", "1/a.pickle"]);
    fs::remove_file(folder.join("b.pickle")).unwrap();
    assert_eq!(listing.current().fragment, "url=1/a.pickle");
    assert_eq!(listing.find("0/b.pickle").unwrap().name, "b.pickle");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn newest_files_are_listed_if_too_many() {
    let folder = folder("many");
    let old = SystemTime::UNIX_EPOCH;
    for place in 0..1000 {
        let file = fs::File::create(folder.join(format!("snapshot-{place:0100}.pickle"))).unwrap();
        std::io::Write::write_all(&mut &file, b"x").unwrap();
        file.set_modified(old + std::time::Duration::from_secs(place)).unwrap();
    }
    let listing = listing(&folder);
    let listed = listing.current();
    assert_eq!((listed.files.len(), listed.left_out), (MAX_LISTED, 1000 - MAX_LISTED));
    assert!(listed.fragment.len() <= MAX_FRAGMENT, "{}", listed.fragment.len());
    assert!(links(&listed.fragment)[0].ends_with("00999.pickle"));
    // The survey covers all files, and each can be fetched.
    let all = listing.all_addresses();
    assert_eq!(all.lines().count(), 1000);
    assert!(all.lines().all(|address| listing.find(address).is_some()), "{all}");
    assert_eq!(all.lines().take(MAX_LISTED).collect::<Vec<_>>(), links(&listed.fragment));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn empty_file_is_listed_last() {
    let folder = folder("empty");
    fs::write(folder.join("rank0.pickle"), b"x").unwrap();
    fs::write(folder.join("rank1.pickle"), b"").unwrap();
    fs::write(folder.join("_SUCCESS"), b"").unwrap();
    let listing = listing(&folder);
    assert_eq!(listing.current().fragment, "url=0/rank0.pickle&url=1/rank1.pickle");
    assert_eq!(listing.all_addresses(), "0/rank0.pickle\n1/rank1.pickle\n");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_of_several_folders_are_listed_newest_first() {
    let folders = [folder("one"), folder("two")];
    for (seconds, name) in [(1, "one/a.pickle"), (2, "two/b.pickle"), (3, "one/c.pickle")] {
        let (of, name) = name.split_once('/').unwrap();
        let folder = &folders[usize::from(of == "two")];
        let file = fs::File::create(folder.join(name)).unwrap();
        std::io::Write::write_all(&mut &file, b"x").unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    }
    let listing = Listing::new(&folders).unwrap();
    assert_eq!(listing.all_addresses(), "0/c.pickle\n1/b.pickle\n2/a.pickle\n");
    folders.into_iter().for_each(|folder| fs::remove_dir_all(folder).unwrap());
}
