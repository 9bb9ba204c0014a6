//! Pages of the documentation, and the parts of them that tests render.

use std::path::{Path, PathBuf};

/// The folder of the repository.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The text of a page.
pub fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Compares the part of a page between `<!-- NAME: rendered by TEST -->` and `<!-- end of NAME -->` with `text`, or with
/// `LANECAST_BLESS=1` replaces it.
pub fn rendered(page: &str, name: &str, test: &str, text: &str) {
    let (begin, end) = (format!("<!-- {name}: rendered by {test} -->\n"), format!("<!-- end of {name} -->"));
    let old = read(page);
    let (head, rest) = old.split_once(&begin).unwrap_or_else(|| panic!("{page} lacks {begin}"));
    let (shown, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("{page} lacks {end}"));
    if std::env::var_os("LANECAST_BLESS").is_some() {
        std::fs::write(Path::new(ROOT).join(page), [head, &begin, text, &end, tail].concat()).expect(page);
    } else {
        assert_eq!(shown, text, "{page}: LANECAST_BLESS=1 cargo test --test library {name} regenerates it");
    }
}

/// The files below a folder whose name has this extension, as paths from the root of the repository.
pub fn files(folder: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in Path::new(ROOT).join(&folder).read_dir().expect("a readable folder") {
            let entry = entry.expect("a readable entry");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path.to_str().expect("a UTF-8 path").replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}
