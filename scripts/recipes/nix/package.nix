# nix-build -E 'with import <nixpkgs> { }; callPackage ./package.nix { }'
{
  lib,
  rustPlatform,
  rustc,
  cargo,
  stdenv,
  pkg-config,
  hwloc,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "topobroker";
  version = "0.1.0";

  src = lib.cleanSource ../../..;

  cargoDeps = rustPlatform.importCargoLock { lockFile = ../../../Cargo.lock; };

  nativeBuildInputs = [
    rustPlatform.cargoSetupHook
    rustc
    cargo
    pkg-config
  ];

  # The libraries are linked with hwloc's, and their files for pkg-config name it.
  propagatedBuildInputs = [ hwloc ];

  env.TOPOBROKER_NO_INSTALL = "1";

  postPatch = "patchShebangs scripts";

  dontConfigure = true;
  dontBuild = true;

  installPhase = ''
    runHook preInstall
    CARGO_BUILD_JOBS=$NIX_BUILD_CORES scripts/install --prefix=$out --libdir=lib
    runHook postInstall
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/topobroker --version
    $out/bin/topobroker ls -i 'pack:2 core:2 pu:1'
  '';

  meta = {
    description = "One hwloc topology per HPC node, in shared memory, for every process to adopt";
    homepage = "https://github.com/topobroker/topobroker";
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "topobroker";
    platforms = lib.platforms.linux;
  };
})
