// An expression: the machine of the examples in the documentation, from a kept segment with two
// packages of two cores.
{
    use topobroker_reader::Archive;
    use topobroker_layout::{encode::AlignedVec, header::HEADER_LEN};
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/topology-1.0");
    let segment = std::fs::read(kept).expect("a kept segment");
    let mut archive = AlignedVec::new();
    archive.extend_from_slice(&segment[HEADER_LEN..]);
    let archive: &'static AlignedVec = Box::leak(Box::new(archive));
    Box::leak(Box::new(Archive::open(archive).expect("its archive"))).topology()
}
