//! Prints `from -> to, overflow: address` for the kernel of every pair on the best tier here. On WebAssembly an address is an
//! index into the module's table of functions; `.ci/wasm_loops.mjs` reads the loops there.

use lanecast_kernels::{DType, Encoding, Kernel, Rules, Tier};

fn main() {
    let tier = Tier::best();
    let types = || DType::ALL.iter().flat_map(|&dtype| [Encoding::new(dtype), Encoding::packed(dtype)]);
    for (from, to) in types().flat_map(|from| types().map(move |to| (from, to))) {
        for (saturate, overflow) in [(true, "saturate"), (false, "overflow")] {
            let kernel = Kernel::new(tier, from, to, &Rules::common(to.dtype(), saturate));
            println!("{from} -> {to}, {overflow}: {}", kernel.map_or(0, |kernel| kernel.address()));
        }
    }
}
