//! The three keys by which a process finds a segment.

use super::error::KeysError;
use super::file_key::FileKey;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "std")]
use std::{ffi::OsString, os::unix::ffi::OsStringExt};
use topobroker_process::{FilePath, variable};

/// Environment variable with the file.
const FILE: &str = "TOPOBROKER_FILE";
/// Environment variable with the preferred address, hexadecimal.
const ADDR: &str = "TOPOBROKER_ADDR";
/// Environment variable with the size, decimal bytes.
const SIZE: &str = "TOPOBROKER_SIZE";

/// Keys of a segment: its file, preferred address and size. Counterparts: `PMIX_HWLOC_SHMEM_FILE`,
/// `_ADDR`, `_SIZE`.
///
/// `Display` writes lines for a shell or an environment file. The file is in quotes if it needs
/// them.
///
/// ```
/// use topobroker_reader::Keys;
/// let keys = Keys::parse("/dev/shm/topobroker-1", "0x550000000000", "4096")?;
/// assert_eq!(keys.address(), 0x5500_0000_0000);
/// assert!(keys.to_string().starts_with("TOPOBROKER_FILE=/dev/shm/topobroker-1\n"));
/// # Ok::<(), topobroker_reader::KeysError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    file_key: FileKey,
    address: u64,
    size: u64,
}

impl Keys {
    /// Keys of a segment of `size` bytes, to be mapped at `address`, or anywhere if that is 0.
    #[must_use]
    pub fn new(file_key: FileKey, address: u64, size: u64) -> Self {
        Self { file_key, address, size }
    }

    /// Keys from this process's environment; a set-uid program finds none.
    ///
    /// # Errors
    ///
    /// [`KeysError::Missing`] if a variable is not set, otherwise the errors of [`Keys::parse`].
    pub fn from_env() -> Result<Self, KeysError> {
        Self::from_values(variable)
    }

    /// Whether the environment has at least one of the keys.
    #[must_use]
    pub fn is_in_env() -> bool {
        [FILE, ADDR, SIZE].into_iter().any(|key| variable(key).is_some())
    }

    /// Keys from a function that returns the value of a variable.
    pub(crate) fn from_values(value: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Self, KeysError> {
        let value = |key| value(key).ok_or(KeysError::Missing { key });
        let text = |key, value: Vec<u8>| {
            String::from_utf8(value).map_err(|found| KeysError::Malformed {
                key,
                found: String::from_utf8_lossy(found.as_bytes()).into_owned(),
                expected: "text in UTF-8",
            })
        };
        let file = value(FILE)?;
        let (address, size) = (text(ADDR, value(ADDR)?)?, text(SIZE, value(SIZE)?)?);
        Self::from_parts(FilePath::from_bytes(file), &address, &size)
    }

    /// Parses the three keys.
    ///
    /// # Errors
    ///
    /// [`KeysError::Malformed`] with the key, what was found and what was expected.
    pub fn parse(file: &str, address: &str, size: &str) -> Result<Self, KeysError> {
        Self::from_parts(file.into(), address, size)
    }

    fn from_parts(file: FilePath, address: &str, size: &str) -> Result<Self, KeysError> {
        let malformed = |key, found: &str, expected| KeysError::Malformed {
            key,
            found: found.to_owned(),
            expected,
        };
        let file_key = match file.to_str().and_then(|text| text.strip_prefix("fd:")) {
            Some(number) => match number.parse() {
                Ok(descriptor @ 0..) => FileKey::Descriptor(descriptor),
                _ => {
                    let found = file.to_string();
                    return Err(malformed(FILE, &found, "a descriptor as fd:NUMBER"));
                }
            },
            None => FileKey::Path(file),
        };
        if let FileKey::Path(path) = &file_key
            && !path.is_absolute()
        {
            return Err(malformed(FILE, &path.to_string(), "an absolute path, or fd:NUMBER"));
        }
        let digits = address.strip_prefix("0x").unwrap_or(address);
        let address = u64::from_str_radix(digits, 16)
            .map_err(|_| malformed(ADDR, address, "a hexadecimal address, or 0 for anywhere"))?;
        if address % 0x1_0000 != 0 || address >= 1 << 56 {
            let found = format!("{address:#x}");
            return Err(malformed(ADDR, &found, "a user address that is a multiple of 64 KiB"));
        }
        match size.parse() {
            Ok(size @ 1..) => Ok(Self { file_key, address, size }),
            _ => Err(malformed(SIZE, size, "a number of bytes above 0")),
        }
    }

    /// The file or the descriptor of the segment.
    #[must_use]
    pub fn file_key(&self) -> &FileKey {
        &self.file_key
    }

    /// Path of the file; `None` if the segment is behind a descriptor.
    #[must_use]
    pub fn file(&self) -> Option<&FilePath> {
        match &self.file_key {
            FileKey::Path(path) => Some(path),
            FileKey::Descriptor(_) => None,
        }
    }

    /// Preferred address; 0 for anywhere.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// These keys without a preferred address: the kernel chooses where to map the segment. This
    /// takes the least memory, but pointers into the segment then differ between processes.
    #[must_use]
    pub fn anywhere(mut self) -> Self {
        self.address = 0;
        self
    }

    /// Name and value of each environment variable; a file may have any bytes.
    #[must_use]
    pub fn variables(&self) -> [(&'static str, Vec<u8>); 3] {
        let file = match &self.file_key {
            FileKey::Path(path) => path.as_bytes().to_vec(),
            FileKey::Descriptor(number) => format!("fd:{number}").into_bytes(),
        };
        let (address, size) = (format!("{:#x}", self.address), self.size.to_string());
        [(FILE, file), (ADDR, address.into_bytes()), (SIZE, size.into_bytes())]
    }

    /// The keys as one JSON object with the members `file`, `address` and `size`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut file = String::new();
        for letter in self.file_key.to_string().chars() {
            match letter {
                '"' | '\\' => file.extend(['\\', letter]),
                control if control < ' ' => file.push_str(&format!("\\u{:04x}", control as u32)),
                _ => file.push(letter),
            }
        }
        let (address, size) = (self.address, self.size);
        format!("{{\"file\":\"{file}\",\"address\":\"{address:#x}\",\"size\":{size}}}")
    }
}

/// What launchers need to hand keys over.
#[cfg(feature = "std")]
impl Keys {
    /// [`Keys::file`] as a path of the standard library.
    #[must_use]
    pub fn path(&self) -> Option<&std::path::Path> {
        self.file().map(FilePath::as_path)
    }

    /// [`Keys::variables`] as the standard library has variables.
    #[must_use]
    pub fn to_env(&self) -> [(&'static str, OsString); 3] {
        self.variables().map(|(name, value)| (name, OsString::from_vec(value)))
    }

    /// Lines for an environment file or a shell: the name and value of each variable, with quotes
    /// around values that need them.
    ///
    /// ```
    /// let variables = [("TOPOBROKER_JOB", "/dev/shm/a job".into())];
    /// assert_eq!(topobroker_reader::Keys::lines(variables), "TOPOBROKER_JOB='/dev/shm/a job'\n");
    /// ```
    #[must_use]
    pub fn lines<'n>(variables: impl IntoIterator<Item = (&'n str, OsString)>) -> String {
        variables.into_iter().map(|(name, value)| line(name, value.as_encoded_bytes())).collect()
    }

    /// Name and value of each variable in such lines.
    ///
    /// ```
    /// let mut variables = topobroker_reader::Keys::variables_in("TOPOBROKER_JOB='/dev/shm/a job'\n");
    /// assert_eq!(variables.next(), Some(("TOPOBROKER_JOB", "/dev/shm/a job".to_owned())));
    /// ```
    pub fn variables_in(lines: &str) -> impl Iterator<Item = (&str, String)> {
        let lines = lines.lines().filter_map(|line| line.split_once('='));
        lines.map(|(name, value)| (name, unquoted(value)))
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variables().iter().try_for_each(|(name, value)| f.write_str(&line(name, value)))
    }
}

/// A line for a shell that sets a variable.
fn line(name: &str, value: &[u8]) -> String {
    format!("{name}={}\n", quoted(&String::from_utf8_lossy(value)))
}

/// Quotes a word for a shell if it needs quotes.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:-+,=@%".contains(letter);
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Removes the quotes that [`quoted`] adds.
pub(crate) fn unquoted(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(inner) => inner.replace("'\\''", "'"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_the_environment() {
        let keys = Keys::parse("/run/topology", "0x550000000000", "43210").unwrap();
        let [file, address, size] = keys.to_env().map(|(_, value)| value.into_string().unwrap());
        assert_eq!(Keys::parse(&file, &address, &size).unwrap(), keys);
        assert_eq!(Keys::parse("fd:7", "0", "1").unwrap().file_key(), &FileKey::Descriptor(7));
    }

    #[test]
    fn lines_for_a_shell_are_quoted_where_they_must_be() {
        let line = |file| Keys::parse(file, "0", "1").unwrap().to_string();
        assert!(line("/a/b-1").starts_with("TOPOBROKER_FILE=/a/b-1\n"));
        assert!(line("/my dir/$(x)").starts_with("TOPOBROKER_FILE='/my dir/$(x)'\n"));
        assert!(line("/it's").starts_with("TOPOBROKER_FILE='/it'\\''s'\n"));
        for file in ["/plain", "/my dir/$(x)", "/it's", "/''", "/a'b'c"] {
            let keys = Keys::parse(file, "0x10000", "7").unwrap();
            assert_eq!(Keys::from_lines(&keys.to_string()).unwrap(), keys);
        }
    }

    #[test]
    fn each_malformed_key_is_named() {
        for (file, address, size, key) in [
            ("relative", "0", "1", FILE),
            ("fd:-1", "0", "1", FILE),
            ("fd:x", "0", "1", FILE),
            ("/f", "", "1", ADDR),
            ("/f", "0xg", "1", ADDR),
            ("/f", "0x1001", "1", ADDR),
            ("/f", "0xffff550000000000", "1", ADDR),
            ("/f", "0", "0", SIZE),
            ("/f", "0", "-1", SIZE),
            ("/f", "0", "99999999999999999999999", SIZE),
        ] {
            let error = Keys::parse(file, address, size).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }

    #[test]
    fn json_keeps_odd_file_names_whole() {
        let keys = Keys::parse("/a\"b\\c\n", "0", "1").unwrap();
        let json = keys.to_json();
        assert_eq!(json, r#"{"file":"/a\"b\\c\u000a","address":"0x0","size":1}"#);
    }
}
