//! How much data a link carries.

/// Data in one direction in Mb/s, from a width such as `4x` and a speed such as `QDR`; `None` if
/// one of them is unknown, such as `???`.
///
/// Of SDR to QDR 8 of 10 bits are data, of the others 64 of 66: the names of FDR10 and of EDR and
/// later are of data already. netloc took 8 Gb/s for 4x QDR, which carries 32.
pub(super) fn mbps(width: &str, speed: &str) -> Option<u32> {
    let lanes: u64 = width.strip_suffix(['x', 'X'])?.parse().ok()?;
    // Of a lane, in 11ths of a Mb/s: 14.0625 Gb/s of signals are no whole number.
    let lane = match speed {
        "SDR" => 22_000,
        "DDR" => 44_000,
        "QDR" => 88_000,
        "FDR10" => 110_000,
        "FDR" => 150_000,
        "EDR" => 275_000,
        "HDR" => 550_000,
        "NDR" => 1_100_000,
        "XDR" => 2_200_000,
        _ => return None,
    };
    u32::try_from(lanes.checked_mul(lane)? / 11).ok()
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
    fn lanes_carry_what_the_names_of_rates_say_and_unknown_speeds_are_unknown() {
        let cases = [
            ("4x", "QDR", Some(32_000)),
            ("1x", "SDR", Some(2_000)),
            ("4x", "DDR", Some(16_000)),
            ("4x", "FDR10", Some(40_000)),
            ("4x", "FDR", Some(54_545)),
            ("4X", "EDR", Some(100_000)),
            ("4x", "HDR", Some(200_000)),
            ("2x", "HDR", Some(100_000)),
            ("4x", "NDR", Some(400_000)),
            ("4x", "XDR", Some(800_000)),
            ("4x", "???", None),
            ("??", "QDR", None),
            ("999999999999999x", "XDR", None),
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
