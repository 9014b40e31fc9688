// SPDX-License-Identifier: Apache-2.0
//! A service with 16 threads. Requests wait in a queue; a thread that is free takes one, scores its
//! rows by a call of the package, and answers with the best of them.
//!
//! All threads call the same functions, each with a buffer of its own. A request that is refused is
//! answered with the reason, and is nobody else's affair. Every answer is compared with what plain
//! Rust makes of the request.

use kernpack::{View, ViewMut};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

kernpack::include!(scoring);

const THREADS: usize = 16;
const REQUESTS: usize = 2000;
const WIDTH: usize = 8;
const WEIGHTS: [f32; WIDTH] = [0.5, -1.0, 2.0, 0.25, -0.75, 1.5, 1.0, -2.0];

/// Rows of numbers, as a client sends them.
struct Request {
    number: usize,
    rows: Vec<f32>,
    shape: [i64; 2],
}

/// The row with the highest score, the first of those with the same.
#[derive(Debug, PartialEq)]
struct Best {
    row: usize,
    score: f32,
}

struct Answer {
    number: usize,
    best: kernpack::Result<Best>,
}

/// The request of a number. Few of them are wrong: some have a column too few, and some less than
/// they say.
fn request(number: usize) -> Request {
    let (n, d) = match number % 200 {
        50 => (3, WIDTH - 1),
        150 => (3, WIDTH),
        _ => (1 + number % 60, WIDTH),
    };
    let n_sent = if number % 200 == 150 { n * d - 1 } else { n * d };
    let value = |i| ((i * 37 + number * 11) % 101) as f32 - 50.0;
    Request { number, rows: (0..n_sent).map(value).collect(), shape: [n as i64, d as i64] }
}

fn highest(scores: impl IntoIterator<Item = f32>) -> Best {
    let scores = scores.into_iter().enumerate().map(|(row, score)| Best { row, score });
    let higher = |best: Best, other: Best| if other.score > best.score { other } else { best };
    scores.reduce(higher).expect("a request has a row")
}

/// The best row of a request, by the package. The buffer is the thread's.
fn best(request: &Request, scores: &mut Vec<f32>) -> kernpack::Result<Best> {
    let n_rows = request.shape[0];
    scores.resize(n_rows as usize, 0.0);
    let rows = View::new(&request.rows, &request.shape)?;
    let weights = View::new(&WEIGHTS, &[WIDTH as i64])?;
    scoring::score(rows, weights, ViewMut::new(scores, &[n_rows])?).call()?;
    Ok(highest(scores.iter().copied()))
}

/// The best row of a request, in plain Rust. The numbers are such that sums are exact.
fn best_in_rust(request: &Request) -> Best {
    let score = |row: &[f32]| row.iter().zip(WEIGHTS).map(|(x, weight)| x * weight).sum();
    highest(request.rows.chunks(WIDTH).map(score))
}

/// The next request; nothing when there will be none. The queue is free again before it is served.
fn next(queue: &Mutex<Receiver<Request>>) -> Option<Request> {
    queue.lock().expect("no thread panics").recv().ok()
}

/// What each thread does.
fn work(queue: &Mutex<Receiver<Request>>, answers: &Sender<Answer>) {
    let mut scores = Vec::new();
    while let Some(request) = next(queue) {
        let best = best(&request, &mut scores);
        let answer = Answer { number: request.number, best };
        answers.send(answer).expect("answers are waited for");
    }
}

/// Serves requests, and gives the answers in the order in which they came.
fn serve(requests: impl IntoIterator<Item = Request>) -> Vec<Answer> {
    let (client, queue) = mpsc::channel();
    let (worker, answers) = mpsc::channel();
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (queue, worker) = (&queue, worker.clone());
            scope.spawn(move || work(queue, &worker));
        }
        for request in requests {
            client.send(request).expect("the queue is there");
        }
        // Threads end where nobody can send a request, and the answers where no thread is left.
        drop((client, worker));
        answers.into_iter().collect()
    })
}

fn main() {
    let mut answers = serve((0..REQUESTS).map(request));
    answers.sort_by_key(|answer| answer.number);
    let numbers = answers.iter().map(|answer| answer.number);
    assert!(numbers.eq(0..REQUESTS), "each request has one answer");

    let mut accepted = Vec::new();
    let mut refused = BTreeMap::<String, usize>::new();
    for Answer { number, best } in answers {
        match best {
            Ok(best) => accepted.push((number, best)),
            Err(error) => *refused.entry(error.to_string()).or_default() += 1,
        }
    }
    let n_alike = accepted.iter().filter(|(i, best)| *best == best_in_rust(&request(*i))).count();
    let sum: f64 = accepted.iter().map(|(_, best)| f64::from(best.score)).sum();
    println!("{THREADS} threads, {REQUESTS} requests");
    println!("accepted: {}, of which as in plain Rust: {n_alike}", accepted.len());
    println!("sum of the best scores: {sum}");
    for (reason, count) in refused {
        println!("refused, {count} times: {reason}");
    }
}
