// SPDX-License-Identifier: Apache-2.0
//! Any text as a signature: it is refused with diagnostics that print, or it prints, reads back
//! equal, and plans.
#![no_main]

use kernpack_ffi_abi::DeviceType;
use kernpack_validators::Signature;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match text.parse::<Signature>() {
        Err(diagnostics) => assert!(!diagnostics.to_string().is_empty()),
        Ok(signature) => {
            check(&signature);
            signature.out_variant().iter().for_each(check);
        }
    }
});

fn check(signature: &Signature) {
    let printed = signature.to_string();
    let again: Signature = printed
        .parse()
        .unwrap_or_else(|problems| panic!("`{printed}` does not read back: {problems}"));
    assert_eq!(again.to_string(), printed, "printing is not stable");
    assert_eq!(again, *signature, "`{printed}` reads back as another signature");
    let plans = [DeviceType::CPU, DeviceType::CUDA].map(|device| signature.plan(device));
    for plan in plans {
        match plan {
            Err(diagnostics) => assert!(!diagnostics.to_string().is_empty()),
            Ok(plan) => {
                plan.verify().unwrap_or_else(|error| panic!("{error}, of `{printed}`"));
                assert!(
                    plan.to_string().contains("require"),
                    "every plan checks the number of arguments"
                );
            }
        }
    }
}
