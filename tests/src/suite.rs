// SPDX-License-Identifier: Apache-2.0
//! Runs the files of the suite: block by block, in order, each failure with its place.

use crate::block::{self, Role, Shown};
use crate::callee::{Callee, Interpreter, Outcome};
use crate::document::{Block, Document, Piece};
use crate::kernel_text::KernelText;
use crate::module::Module;
use crate::subject::Subject;
use std::path::{Path, PathBuf};

/// What is wrong with a block that stands before any function.
const NO_SIGNATURE: &str = "expected a `signature` in front";

/// How a file ended.
#[derive(Debug, Default)]
pub struct Report {
    /// How many calls were made as expected, or things shown.
    pub passed: usize,
    /// What went wrong, each with its place.
    pub failures: Vec<String>,
    /// How many blocks were rewritten.
    pub blessed: usize,
}

/// Every Markdown file below a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let expand = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    let is_markdown = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "md");
    paths.into_iter().flat_map(expand).filter(is_markdown).collect()
}

/// Runs a file; with `bless`, rewrites what it expects to what it got.
pub fn run(path: &Path, bless: bool) -> Report {
    let mut document = Document::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let mut run = Run::new(path, bless);
    let subjects = run.describe(&document);
    let module = Module::build(&subjects.iter().collect::<Vec<_>>());
    if let Err(error) = &module {
        run.fail(1, &format!("the functions of this file do not compile: {error}"));
    }
    run.pieces(&mut document, &subjects, module.ok().as_ref());
    if run.report.blessed > 0 {
        std::fs::write(path, document.to_string()).expect("the suite can be written");
    }
    run.report
}

struct Run<'r> {
    path: &'r Path,
    bless: bool,
    heading: String,
    report: Report,
    /// The function of the blocks at hand, by number.
    subject: Option<usize>,
    /// How the last call ended and where it stands, as long as only blocks about it follow.
    called: Option<(usize, Outcome)>,
    /// A function with problems that no `diagnostic` has shown, by its line.
    unshown: Option<usize>,
    /// The file of the last block that had kernels.
    kernels: KernelText,
}

impl<'r> Run<'r> {
    fn new(path: &'r Path, bless: bool) -> Run<'r> {
        let (heading, report) = (String::new(), Report::default());
        let kernels = KernelText::default();
        Run { path, bless, heading, report, subject: None, called: None, unshown: None, kernels }
    }

    fn fail(&mut self, line: usize, what: &str) {
        let (path, heading) = (self.path.display(), &self.heading);
        self.report.failures.push(format!("{path}:{line}: {heading}\n{what}"));
    }

    /// The functions of a file, in order. A signature that cannot be read is one without a plan, so
    /// that the others keep their numbers.
    fn describe(&mut self, document: &Document) -> Vec<Subject> {
        let mut subjects: Vec<Subject> = Vec::new();
        for block in document.blocks() {
            let described = block::kind(&block.info).and_then(|kind| match kind.role {
                Role::Begin(begin) => {
                    let subject = begin(&block.text);
                    let problem = subject.as_ref().err().cloned();
                    subjects.push(subject.unwrap_or_else(|_| Subject::new("")));
                    problem.map_or(Ok(()), Err)
                }
                Role::Add(add) => match subjects.last_mut() {
                    Some(subject) => add(&block.text, subject),
                    None => Err(NO_SIGNATURE.to_string()),
                },
                Role::Call(_) | Role::Show(_) | Role::End(_) | Role::Kernels(_) => Ok(()),
            });
            if block.text.lines().any(|line| line.starts_with("```")) {
                self.fail(block.line, "the block does not end");
            }
            if let Err(problem) = described {
                self.fail(block.line, &problem);
            }
        }
        subjects
    }

    fn pieces(
        &mut self,
        document: &mut Document,
        subjects: &[Subject],
        module: Option<&Module<'_>>,
    ) {
        for piece in &mut document.pieces {
            match piece {
                Piece::Prose(_) => {}
                Piece::Heading(heading) => {
                    self.settle();
                    self.heading.clone_from(heading);
                }
                Piece::Block(block) => self.block(block, subjects, module),
            }
        }
        self.settle();
    }

    fn block(&mut self, block: &mut Block, subjects: &[Subject], module: Option<&Module<'_>>) {
        let Ok(kind) = block::kind(&block.info) else { return };
        if let Role::Kernels(show) = kind.role {
            let shown = show(&mut self.kernels, &block.text);
            return self.compare(block, shown);
        }
        if let Role::Begin(_) = kind.role {
            self.settle();
            self.subject = Some(self.subject.map_or(0, |number| number + 1));
        }
        let Some((number, subject)) = self.subject.and_then(|i| Some((i, subjects.get(i)?))) else {
            return self.fail(block.line, NO_SIGNATURE);
        };
        match kind.role {
            Role::Begin(_) | Role::Add(_) => {
                self.unshown = subject.plan.is_err().then_some(block.line);
            }
            Role::Call(call) => {
                self.settle();
                let Some(mut interpreter) = Interpreter::new(subject) else {
                    return self.fail(block.line, "the function has problems: nothing is called");
                };
                let mut compiled = module.map(|module| module.callee(number));
                let mut callees: Vec<&mut dyn Callee> = vec![&mut interpreter];
                callees.extend(compiled.iter_mut().map(|compiled| compiled as &mut dyn Callee));
                match call(&block.text, &mut callees) {
                    Ok(outcome) => self.called = Some((block.line, outcome)),
                    Err(problem) => self.fail(block.line, &problem),
                }
            }
            Role::Show(show) => {
                let outcome = self.called.as_ref().map(|(_, outcome)| outcome);
                let shown = show(&Shown { subject, outcome });
                self.compare(block, shown);
                if kind.info == block::PROBLEMS.info {
                    self.unshown = None;
                }
            }
            Role::End(show) => {
                let called = self.called.take();
                let outcome = called.as_ref().map(|(_, outcome)| outcome);
                let shown = show(&Shown { subject, outcome });
                self.compare(block, shown);
            }
            Role::Kernels(_) => {}
        }
    }

    /// Compares what a block holds with what it should.
    fn compare(&mut self, block: &mut Block, shown: Result<String, String>) {
        match shown {
            Ok(actual) if actual == block.text => self.report.passed += 1,
            Ok(actual) if self.bless => {
                self.report.blessed += 1;
                block.text = actual;
            }
            Ok(actual) => {
                let what = format!("expected:\n{}\nactual:\n{actual}", block.text);
                self.fail(block.line, &what);
            }
            Err(problem) => self.fail(block.line, &format!("{problem}; expected:\n{}", block.text)),
        }
    }

    /// What is left when the blocks about a call or a signature are over: a call that nothing was
    /// said of is accepted.
    fn settle(&mut self) {
        match self.called.take() {
            Some((line, Outcome::Refused(refused))) => {
                let what =
                    format!("expected: accepted\nactual:\n{} {}", refused.kind, refused.message);
                self.fail(line, &what);
            }
            Some(_) => self.report.passed += 1,
            None => {}
        }
        if let Some(line) = self.unshown.take() {
            self.fail(line, "the function has problems, and no `diagnostic` shows them");
        }
    }
}
