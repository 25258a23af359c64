//! Pictures of the tutorials in `www/docs`, each in light and dark colours: `./run tutorials`.

use crate::appearance::scrolls_sideways;
use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::site::Site;
use std::fs;
use std::path::{Path, PathBuf};

/// Width and height of the pictures, in pixels. Wider than a page of the manual, which shrinks them.
const SIZE: [u32; 2] = [1120, 760];

/// A view of the page that a tutorial shows.
struct Picture {
    name: &'static str,
    /// Link that opens the view. If empty, the ranks are dropped on the page.
    link: &'static str,
    /// Controls that are clicked, in order.
    clicks: &'static [&'static str],
    /// Text that the view has to contain.
    text: &'static str,
}

const PICTURES: [Picture; 7] = [
    Picture {
        name: "oom-insights",
        link: "url=out-of-memory.pickle.gz&at=oom&tab=why&topic=oom",
        clicks: &[],
        text: "model.py:140 loss requested 1.88 GiB",
    },
    Picture {
        name: "oom-tree",
        link: "url=out-of-memory.pickle.gz&stack=site&colour=site&at=oom&tab=tree",
        clicks: &["#tree-open-all"],
        text: "keep_features",
    },
    Picture {
        name: "leak-insights",
        link: "url=leak.pickle.gz&stack=site&colour=site&tab=why&topic=leaks",
        clicks: &[],
        text: "log_metrics",
    },
    Picture {
        name: "fragmentation-segments",
        link: "url=out-of-memory.pickle.gz&at=oom&tab=memory",
        clicks: &[],
        text: "70 segments",
    },
    Picture {
        name: "fragmentation-reserved",
        link: "url=out-of-memory.pickle.gz&show=reserved&at=oom&tab=why&topic=fragmentation",
        clicks: &[],
        text: "Fragmentation after event 1,342",
    },
    Picture { name: "ranks", link: "", clicks: &["#tab-insights"], text: "Rank 3 ran out of memory" },
    Picture {
        name: "ci-comparison",
        link: "url=docs/samples/before.pickle.gz&with=docs/samples/after.pickle.gz&tab=why&topic=comparison",
        clicks: &[],
        text: "+96.0 MiB train.py:71 log_metrics",
    },
];

fn manual() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www/docs")
}

impl Picture {
    /// Opens the view in the built page, and waits until everything in it is drawn.
    fn open(&self, scheme: &str) -> Page {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(SIZE[0], SIZE[1]);
        if self.link.is_empty() {
            page.navigate(&Site::shared().page());
            page.wait_for_state("empty");
            page.drop_files(&[&manual().join("samples/ranks.tar")]);
        } else {
            page.navigate(&format!("{}#v=1&{}", Site::shared().page(), self.link));
        }
        page.wait_for_state("ready");
        page.wait_until("the timeline is drawn", || {
            page.attribute("canvas#timeline", "data-frames").is_some_and(|frames| frames != "0")
        });
        self.clicks.iter().for_each(|control| page.click(control));
        page.wait_until("the view is filled", || page.text("#workspace").contains(self.text));
        page.move_to(1.0, 1.0);
        page.wait_until_idle();
        page
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run tutorials"]
fn pictures_of_tutorials() {
    let folder = manual().join("pictures");
    fs::create_dir_all(&folder).expect("the folder can be made");
    for picture in PICTURES {
        let name = picture.name;
        for scheme in ["light", "dark"] {
            let page = picture.open(scheme);
            let bytes = page.wait_until_settled("the picture", || page.compressed_screenshot());
            assert!(!scrolls_sideways(&page), "{name}");
            assert!(bytes.len() < 100_000, "{name}-{scheme} has {} bytes", bytes.len());
            assert_eq!(page.errors(), Vec::<String>::new(), "{name}");
            fs::write(folder.join(format!("{name}-{scheme}.webp")), bytes).expect("the folder can be written");
        }
    }
}
