//! Node name maps: a GUID and a name in quotes a line.

use super::error::{FabricError, wrong_line};
use std::collections::BTreeMap;

/// Names by GUID.
pub(super) fn read(file: &str, text: &str) -> Result<BTreeMap<u64, String>, FabricError> {
    let mut names = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = || {
            let (guid, rest) = line.strip_prefix("0x")?.split_once(char::is_whitespace)?;
            let (_, rest) = rest.split_once('"')?;
            let (name, _) = rest.rsplit_once('"')?;
            Some((u64::from_str_radix(guid, 16).ok()?, name.to_owned()))
        };
        let (guid, name) =
            entry().ok_or_else(|| wrong_line(file, number, line, "0xGUID \"NAME\""))?;
        names.insert(guid, name);
    }
    Ok(names)
}
