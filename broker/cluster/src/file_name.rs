//! Names of files that are called as nodes.

use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Most bytes of the part that is the node's name: with an ending, a file has 255 at most.
const MOST: usize = 200;

/// The name of a file for a node, which no other node's file has: letters that lead out of a
/// folder, hide a file or end a line are written as `%2F`. What is longer than a name can be ends
/// with a hash.
pub fn file_name(node: &str, ending: &str) -> String {
    let mut name = String::new();
    for (at, byte) in node.bytes().enumerate() {
        let is_plain =
            byte.is_ascii_alphanumeric() || b"-_+:@,=~".contains(&byte) || (byte == b'.' && at > 0);
        if is_plain {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    if name.len() > MOST {
        name.truncate(MOST);
        let _ = write!(name, "%%{:016x}", xxh3_64(node.as_bytes()));
    }
    format!("{name}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_a_file_of_its_own_in_the_folder() {
        assert_eq!(file_name("n1.site-x", "xml"), "n1.site-x.xml");
        assert_eq!(file_name("../a", "xml"), "%2E.%2Fa.xml");
        assert_eq!(file_name("a_b", "node"), "a_b.node");
        assert_eq!(file_name("a/b", "node"), "a%2Fb.node");
        assert_eq!(file_name("a%2Fb", "node"), "a%252Fb.node");
        let long = ["x".repeat(255), "x".repeat(254) + "y"].map(|name| file_name(&name, "xml"));
        assert!(long[0] != long[1] && long.iter().all(|name| name.len() <= 255));
    }
}
