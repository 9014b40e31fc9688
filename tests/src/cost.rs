// SPDX-License-Identifier: Apache-2.0
//! What a signature costs grows with its text: twice as much of the same has at most twice the
//! steps, expressions and words in its plan, and the bytes in its object. Counted, so that no
//! machine is too slow for it.

use kernpack_compiler::{Options, compile};
use kernpack_ffi_abi::DeviceType;
use kernpack_package::{Function, Package};
use kernpack_validators::fault::Part;
use kernpack_validators::plan::{Repeat, Step, When};
use kernpack_validators::{Plan, Signature};

/// A name, and a signature that says something `n` times.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: &[Shape] = &[
    ("tensors", |n| function(n, |i| format!("Tensor([m{i}, n], float32, align=16)"), "")),
    ("absent tensors", |n| {
        function(n, |i| format!("Optional[Tensor([m{i}, k{i}], float32, order=col)]"), "")
    }),
    ("one stride symbol", |n| {
        function(n, |i| format!("Tensor([m{i}, n], float32, strides=[s, 1])"), "")
    }),
    ("one stride symbol of absent tensors", |n| {
        let absent = |i| format!("Optional[Tensor([m{i}, k{i}], float32, strides=[s, 1])]");
        function(n, absent, "")
    }),
    ("a symbol of absent tensors", |n| {
        function(n, |_| "Optional[Tensor([m, m + 1], float32)]".to_string(), " where m % 8 == 0")
    }),
    ("many stride symbols", |n| {
        let strides = "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9";
        let tensor = format!("Tensor([_, _, _, _, _, _, _, _, _, _], int8, strides=[{strides}])");
        function(n, |_| tensor.clone(), "")
    }),
    ("expressions of a stride symbol", |n| {
        function(n, |i| format!("Tensor([m{i}, n], float32, strides=[{i}*s + 1, s])"), "")
    }),
    ("rules over a stride symbol", |n| {
        let rules: Vec<_> = (0..n).map(|i| format!("s < {}", i + 100)).collect();
        let tensor = |i| format!("Tensor([m{i}, n], float32, strides=[s, 1])");
        function(n, tensor, &format!(" where {}", rules.join(", ")))
    }),
    ("parts of a rule", |n| joined(8 * n, " and ")),
    ("parts of a rule of which one is enough", |n| joined(8 * n, " or ")),
    ("tensors in pairs that share no memory", |n| {
        // As many rules as there are pairs, for n pairs.
        let pairs = (0..n).flat_map(|b| (0..b).map(move |a| format!("noalias(x{a}, x{b})")));
        let pairs: Vec<_> = pairs.take(n).collect();
        function(n, |_| "Tensor([n], float32)".to_string(), &format!(" where {}", pairs.join(", ")))
    }),
    ("tensors that may be on a GPU", |n| {
        function(n, |_| "Tensor([n], float32, device={cpu, cuda})".to_string(), "")
    }),
    ("a dtype variable", |n| {
        function(n, |_| "Tensor([n], T)".to_string(), " where T in {float16, bfloat16, float32}")
    }),
    ("dims that wait", |n| {
        function(n, |i| format!("Optional[Tensor([2*a + {i}, b + {i}], int8)]"), "")
            .replace(")]) ", ")], a: int64, b: int64) ")
            .replace(")])", ")], a: int64, b: int64)")
    }),
];

fn function(n: usize, kind: impl Fn(usize) -> String, rules: &str) -> String {
    // Numbers of one length, so that text grows with what it says.
    let params: Vec<_> = (0..n).map(|i| format!("x{i}: {}", kind(1000 + i))).collect();
    format!("f({}){rules}", params.join(", "))
}

/// One rule of parts that may overflow.
fn joined(n: usize, word: &str) -> String {
    let parts: Vec<_> = (0..n).map(|i| format!("2 * n > {}", 1000 + i)).collect();
    format!("f(n: int64) where {}", parts.join(word))
}

fn n_steps(steps: &[Step]) -> usize {
    let of = |step: &Step| match step {
        Step::Let(..) | Step::Require(..) | Step::AskDevice | Step::AskBlocks(_) => 1,
        Step::When(When { steps, .. }) | Step::Repeat(Repeat { steps, .. }) => 1 + n_steps(steps),
    };
    steps.iter().map(of).sum()
}

fn n_letters(plan: &Plan) -> usize {
    let parts = plan.faults().into_iter().flat_map(|fault| &fault.parts);
    parts.map(|part| if let Part::Text(text) = part { text.len() } else { 1 }).sum()
}

/// What a signature costs, by name.
fn cost(text: &str) -> [(&'static str, usize); 4] {
    let signature: Signature = text.parse().unwrap_or_else(|error| panic!("{error:?}: {text}"));
    let plan = signature.plan(DeviceType::CPU).expect("the signature is a good one");
    let functions = vec![Function::new(signature)];
    let package = Package::new("p", functions);
    let compiled = compile(&package, &Options::default()).expect("the package is a good one");
    [
        ("steps", n_steps(&plan.steps)),
        ("expressions", plan.exprs.len()),
        ("letters of faults", n_letters(&plan)),
        ("bytes", compiled.object.len()),
    ]
}

#[test]
fn what_a_signature_costs_grows_with_its_text() {
    const N: usize = 16;
    for (name, signature) in SHAPES {
        let (once, twice) = (cost(&signature(N)), cost(&signature(2 * N)));
        for ((what, few), (_, many)) in once.into_iter().zip(twice) {
            // Numbers get longer, and the first of several is compared with nothing.
            assert!(many as f64 <= few as f64 * 2.25, "{name}: {few} {what}, then {many}");
        }
    }
}

/// Values hang together in a chain as long as the text. No stack has to be so deep.
#[test]
fn long_chains_need_no_deep_stack() {
    let list = |what: &str| vec![what; 60].join(", ");
    let tensor = format!("Tensor([{}], int8, strides=[{}])", list("_"), list("s"));
    let text = function(40, |_| tensor.clone(), "");
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(move || cost(&text));
    let [(_, n_steps), ..] = thread.expect("a thread").join().expect("no panic");
    assert!(n_steps > 40 * 60 * 2);
}
