//! Inputs as archives and as descriptions.

use topobroker::hwloc::{Input, LoadOptions, import, import_archive};
use topobroker_layout::encode::to_bytes;
use topobroker_samples::{machines, shared};

#[test]
fn the_archive_of_an_input_is_that_of_its_description() {
    let Some(shared) = shared() else { return };
    let files = machines(&shared).into_iter().map(|it| Input::Xml(it.path));
    let synthetic = Input::Synthetic("Package:2 Core:4 PU:2".to_owned());
    let mut inputs = 0;
    for input in files.chain([synthetic, Input::ThisMachine]) {
        let options = LoadOptions::default();
        let described = to_bytes(&import(&input, &options).unwrap()).unwrap();
        let archive = import_archive(&input, &options).unwrap();
        assert!(archive[..] == described[..], "{}", input.name());
        inputs += 1;
    }
    assert!(inputs > 100, "{inputs}");
}
