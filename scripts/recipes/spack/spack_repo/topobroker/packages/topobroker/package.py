# SPDX-License-Identifier: (Apache-2.0 OR MIT)

import os

from spack_repo.builtin.build_systems.generic import Package
from spack_repo.builtin.build_systems.python import PythonPipBuilder

from spack.package import *


class Topobroker(Package):
    """topobroker publishes the hwloc topology of a node once, in shared memory.
    Every process adopts it, read-only, in tens of microseconds, and needs neither
    hwloc nor a private copy."""

    homepage = "https://github.com/topobroker/topobroker"
    git = "https://github.com/topobroker/topobroker.git"

    license("MIT OR Apache-2.0")

    version("main", branch="main")
    # With its commit, once the tag is there.
    version("0.1.0", tag="v0.1.0")

    variant(
        "reader_only",
        default=False,
        description="Install only the thin library, which reads and needs no hwloc",
    )
    with when("~reader_only"):
        variant("slurm", default=False, description="Build the plugin of Slurm (SPANK)")
        variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    with when("~reader_only"):
        depends_on("pkgconfig", type="build")
        depends_on("hwloc@2.4:2")

    depends_on("slurm", when="+slurm")

    with when("+python"):
        extends("python")
        depends_on("python@3.9:", type=("build", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-maturin@1.9:1", type="build")

    requires("platform=linux")

    sanity_check_is_file = [join_path("include", "topobroker.h")]

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        env.set("TOPOBROKER_NO_INSTALL", "1")
        env.set("CARGO_BUILD_JOBS", str(make_jobs))

    def install(self, spec, prefix):
        args = [f"--prefix={prefix}", "--libdir=lib"]
        if spec.satisfies("+reader_only"):
            args.append("--reader")
        Executable("scripts/install")(*args)

        # It is built wherever Slurm's headers are found, for example the system's.
        plugin = prefix.lib.topobroker.join("topobroker_spank.so")
        if spec.satisfies("+slurm"):
            if not os.path.exists(plugin):
                raise InstallError("the plugin of Slurm was not built: slurm/spank.h was not found")
        elif os.path.exists(plugin):
            os.remove(plugin)

        if spec.satisfies("+python"):
            pip(*PythonPipBuilder.std_args(self), f"--prefix={prefix}", "ffi/python")

    def test_version(self):
        """the program starts"""
        self.run_program("--version", expected="topobroker")

    def test_synthetic(self):
        """the program loads a topology by hwloc"""
        self.run_program("ls", "-i", "pack:2 core:2 pu:1", expected="Core")

    def run_program(self, *args, expected):
        if self.spec.satisfies("+reader_only"):
            raise SkipTest("the program is not installed")
        out = Executable(self.prefix.bin.topobroker)(*args, output=str.split, error=str.split)
        assert expected in out, f"expected {expected} in: {out}"
