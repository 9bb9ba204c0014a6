//! Results as files.

use serde::{Serialize, de::DeserializeOwned};
use std::{fs, path::Path};

/// Reads what was written as JSON.
///
/// # Errors
///
/// If the file cannot be read or does not hold a `T`; with the path.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes `results` as JSON.
///
/// # Errors
///
/// If the file cannot be written; with the path.
pub fn write<T: Serialize>(path: &Path, results: &T) -> Result<(), String> {
    let text = serde_json::to_string(results).map_err(|error| error.to_string())?;
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
