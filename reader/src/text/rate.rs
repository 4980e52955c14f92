//! Rates of links.

use alloc::format;
use alloc::string::String;

/// A rate, which is given in Mb/s: `100 Gb/s`, or `2500 Mb/s` if it is no whole number of Gb/s.
///
/// ```
/// assert_eq!(topobroker_reader::text::rate(400_000), "400 Gb/s");
/// assert_eq!(topobroker_reader::text::rate(2_500), "2500 Mb/s");
/// ```
#[must_use]
pub fn rate(mbps: u64) -> String {
    match mbps % 1000 {
        0 => format!("{} Gb/s", mbps / 1000),
        _ => format!("{mbps} Mb/s"),
    }
}
