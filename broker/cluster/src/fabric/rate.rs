//! How much data a link carries.

/// Data in one direction in Mb/s, from a width such as `4x` and a speed such as `QDR`; `None` if
/// one of them is unknown, such as `???`.
///
/// Up to QDR 8 of 10 bits are data, from FDR10 on 64 of 66. netloc took 8 Gb/s for 4x QDR, which
/// carries 32.
pub(super) fn mbps(width: &str, speed: &str) -> Option<u32> {
    let lanes: u32 = width.strip_suffix(['x', 'X'])?.parse().ok()?;
    let (signals, data, of) = match speed {
        "SDR" => (2_500, 8, 10),
        "DDR" => (5_000, 8, 10),
        "QDR" => (10_000, 8, 10),
        "FDR10" => (10_000, 64, 66),
        "FDR" => (14_000, 64, 66),
        "EDR" => (25_000, 64, 66),
        "HDR" => (50_000, 64, 66),
        "NDR" => (100_000, 64, 66),
        "XDR" => (200_000, 64, 66),
        _ => return None,
    };
    lanes.checked_mul(signals).map(|signals| u64::from(signals) * data / of)?.try_into().ok()
}

/// Data in one direction in Mb/s, from a rate as Linux words it, such as `40 Gb/sec (4X QDR)`.
pub(crate) fn mbps_of_rate(rate: &str) -> Option<u32> {
    let (_, inside) = rate.split_once('(')?;
    let (width, speed) = inside.strip_suffix(')')?.split_once(' ')?;
    mbps(width, speed)
}

/// The name of the speed of a lane of so many Gb/s, as iblinkinfo prints it.
pub(super) fn speed_of(gbps: &str) -> &'static str {
    match gbps {
        "2.5" => "SDR",
        "5.0" => "DDR",
        "10.0" => "QDR",
        "10.3125" => "FDR10",
        "14.0625" => "FDR",
        "25.78125" => "EDR",
        "53.125" => "HDR",
        "106.25" => "NDR",
        "212.5" => "XDR",
        _ => "???",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lanes_of_qdr_carry_32_gbps_and_unknown_speeds_are_unknown() {
        let cases = [
            ("4x", "QDR", Some(32_000)),
            ("1x", "SDR", Some(2_000)),
            ("4x", "FDR", Some(54_303)),
            ("4X", "EDR", Some(96_969)),
            ("4x", "???", None),
            ("??", "QDR", None),
            ("999999999x", "XDR", None),
        ];
        for (width, speed, expected) in cases {
            assert_eq!(mbps(width, speed), expected, "{width} {speed}");
        }
        for (rate, expected) in [
            ("40 Gb/sec (4X QDR)", Some(32_000)),
            ("2.5 Gb/sec (1X SDR)", Some(2_000)),
            ("100 Gb/sec", None),
            ("10 Gb/sec (4X ???)", None),
        ] {
            assert_eq!(mbps_of_rate(rate), expected, "{rate}");
        }
    }
}
