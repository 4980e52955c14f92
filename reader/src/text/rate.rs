//! Rates of links.

use alloc::format;
use alloc::string::String;

/// The text of a rate in Mb/s: in Gb/s if it is a whole number of them, otherwise in Mb/s. A rate
/// of 0 is unknown: see [`known_rate`].
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

/// [`rate`], or `rate unknown` if it is 0.
#[must_use]
pub fn known_rate(mbps: u64) -> String {
    if mbps == 0 { "rate unknown".into() } else { rate(mbps) }
}
