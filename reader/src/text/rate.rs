//! Rates of links.

use alloc::format;
use alloc::string::String;

/// The text of a rate in Mb/s: in Gb/s if it is a whole number of them, else in Mb/s. A rate of 0 is
/// unknown, and not for this function.
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
