fn main() {
    let text = std::env::args().nth(1).unwrap();
    match text.parse::<kernpack_validators::Signature>() {
        Ok(s) => { println!("{s}"); println!("{}", s.plan(kernpack_ffi_abi::DeviceType::CPU).unwrap()) }
        Err(e) => println!("{e}"),
    }
}
