//! Only tests: `topobroker.h` and its parts are what cbindgen makes of the sources of the C
//! interface.
