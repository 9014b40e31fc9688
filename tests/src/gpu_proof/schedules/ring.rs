// SPDX-License-Identifier: Apache-2.0
//! What says that stages are full and empty: mbarriers, and a state that counts; or pipelines.

use super::text::Lines;
use super::{Factor, Fill, Release, Ring, Schedule};

/// Factors that are there together, and the end of what has its name of them.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) factors: Vec<Factor>,
}

impl Schedule {
    /// Both factors, or one after the other.
    pub(super) fn parts(&self, order: [Factor; 2]) -> Vec<Part> {
        let part = |factor| match factor {
            Factor::A => Part { name: "_a", factors: vec![factor] },
            Factor::B => Part { name: "_b", factors: vec![factor] },
        };
        match self.is_split {
            true => order.map(part).into(),
            false => vec![Part { name: "", factors: order.into() }],
        }
    }

    /// Makes it, which all threads of the block do.
    pub(super) fn ring(&self, lines: &mut Lines) {
        match self.ring {
            Ring::Mbarriers => self.mbarriers(lines),
            Ring::Participants | Ring::States => self.pipelines(lines),
        }
        if self.ring != Ring::Participants {
            let user = "kp.PipelineUserType.Consumer";
            lines.add(format!("state = kp.make_pipeline_state({user}, {})", self.stages));
        }
        if self.ring == Ring::States && self.is_late {
            lines.add("used = state.clone()");
        }
    }

    fn mbarriers(&self, lines: &mut Lines) {
        let [full, empty] = self.n_arrivals();
        let parts = self.parts(self.orders[0]);
        for part in &parts {
            lines.add(format!("full{} = kp.mbarrier({})", part.name, self.stages));
        }
        lines.add(format!("empty = kp.mbarrier({})", self.stages));
        lines.block(format!("if kp.thread_idx()[0] == {}:", self.elected[1]), |lines| {
            lines.block(format!("for s in kp.range_constexpr({}):", self.stages), |lines| {
                for part in &parts {
                    lines.add(format!("full{}[s].init({full})", part.name));
                }
                lines.add(format!("empty[s].init({empty})"));
            });
        });
        lines.add("kp.sync_threads()");
    }

    fn pipelines(&self, lines: &mut Lines) {
        let class = match self.fill {
            Fill::Boxes { .. } => "kp.PipelineTmaAsync",
            Fill::Copies { waits: false } => "kp.PipelineCpAsync",
            Fill::Copies { waits: true } | Fill::Stores => "kp.PipelineAsync",
        };
        let ([producers, _], consumers) = (self.n_arrivals(), self.n_consumers);
        let threads = format!("producers={producers}, consumers={consumers}");
        for Part { name, .. } in self.parts(self.orders[0]) {
            lines.add(format!("pipeline{name} = {class}.create({}, {threads})", self.stages));
            lines.add(format!("load{name}, use{name} = pipeline{name}.make_participants()"));
        }
    }

    /// Waits until a stage is full. Its number is `at`.
    pub(super) fn wait(&self, lines: &mut Lines) {
        if self.ring != Ring::Participants {
            lines.add("at = state.index");
        }
        for Part { name, .. } in self.parts(self.orders[1]) {
            match self.ring {
                Ring::Mbarriers => lines.add(format!("full{name}[at].wait(state.phase)")),
                Ring::Participants => {
                    lines.add(format!("stage{name} = use{name}.wait_and_advance()"));
                    lines.add(format!("at = stage{name}.index"));
                }
                Ring::States => lines.add(format!("pipeline{name}.consumer_wait(state)")),
            }
        }
    }

    /// Releases the stage, or the one before where that is late.
    pub(super) fn release(&self, lines: &mut Lines) {
        let late = |late, soon| if self.is_late { late } else { soon };
        match self.ring {
            Ring::Mbarriers => self.arrive(late("before", "at"), lines),
            Ring::Participants => {
                for Part { name, .. } in self.parts(self.orders[1]) {
                    lines.add(format!("stage{name}.release()"));
                }
            }
            Ring::States => {
                let state = late("used", "state");
                for Part { name, .. } in self.parts(self.orders[1]) {
                    lines.add(format!("pipeline{name}.consumer_release({state})"));
                }
                if self.is_late {
                    lines.add("used.advance()");
                }
            }
        }
    }

    fn arrive(&self, stage: &str, lines: &mut Lines) {
        let (arrive, lane) = (format!("empty[{stage}].arrive()"), self.elected[2]);
        match self.release {
            Release::Threads => lines.add(arrive),
            Release::Warps => {
                lines.add("kp.sync_warp()");
                lines.block(format!("if kp.lane_idx() == {lane}:"), |lines| lines.add(arrive));
            }
            Release::Warpgroups => {
                lines.block(format!("if thread % 128 == {lane}:"), |lines| lines.add(arrive));
            }
        }
    }
}
