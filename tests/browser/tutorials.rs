//! Pictures of the tutorials in `www/docs`, each in light and dark colours: `./run tutorials`.

use crate::appearance::scrolls_sideways;
use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::site::Site;
use std::fs;
use std::path::Path;

/// Width and height of the pictures, in pixels. Wider than a page of the manual, which shrinks them.
const SIZE: [u32; 2] = [1120, 680];

/// Pictures: name, link to the view, and the element that has to be shown.
const PICTURES: [(&str, &str, &str); 7] = [
    ("oom-insights", "url=out-of-memory.pickle.gz&at=oom&tab=why&topic=oom", "#insights"),
    ("oom-tree", "url=out-of-memory.pickle.gz&stack=site&colour=site&at=oom&tab=tree", "#tree"),
    ("leak-insights", "url=leak.pickle.gz&stack=site&colour=site&tab=why&topic=leaks", "#insights"),
    ("fragmentation-segments", "url=out-of-memory.pickle.gz&at=oom&tab=memory", "#segments"),
    (
        "fragmentation-reserved",
        "url=out-of-memory.pickle.gz&show=reserved&at=oom&tab=why&topic=fragmentation",
        "#insights",
    ),
    ("ranks", "url=docs/samples/ranks.tar&tab=why&topic=ranks", "#insights"),
    (
        "ci-comparison",
        "url=docs/samples/before.pickle.gz&with=docs/samples/after.pickle.gz&tab=why&topic=comparison",
        "#insights",
    ),
];

/// Opens a view of the built page, and waits until everything in it is drawn.
fn open(link: &str, scheme: &str) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.prefer_color_scheme(scheme);
    page.resize(SIZE[0], SIZE[1]);
    page.navigate(&format!("{}#v=1&{link}", Site::shared().page()));
    page.wait_for_state("ready");
    page.wait_until("the timeline is drawn", || {
        page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
    });
    page.move_to(1.0, 1.0);
    page
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run tutorials"]
fn pictures_of_tutorials() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/docs/pictures");
    fs::create_dir_all(&folder).expect("the folder can be made");
    for (name, link, shown) in PICTURES {
        for scheme in ["light", "dark"] {
            let page = open(link, scheme);
            page.wait_until_idle();
            let picture = page.wait_until_settled("the picture", || page.compressed_screenshot());
            assert!(page.bounding_box(shown).height > 100.0, "{name} shows no {shown}");
            assert!(!scrolls_sideways(&page), "{name}");
            assert_eq!(page.errors(), Vec::<String>::new(), "{name}");
            fs::write(folder.join(format!("{name}-{scheme}.webp")), picture).expect("the folder can be written");
        }
    }
}
