//! bench
use kernpack_compiler::link::*;
use std::time::Instant;
fn time<T>(what:&str, mut f: impl FnMut()->T) { let s=Instant::now(); f(); let first=s.elapsed(); let n=500; let mut v=Vec::new(); for _ in 0..n { let s=Instant::now(); f(); v.push(s.elapsed().as_secs_f64()*1e3);} v.sort_by(f64::total_cmp); println!("{what}: first {:.2} median {:.3} p90 {:.3} ms", first.as_secs_f64()*1e3, v[n/2], v[n*9/10]); }
fn main(){
 let a=std::fs::read("/tmp/lk/a1.o").unwrap(); let b=std::fs::read("/tmp/lk/b.o").unwrap();
 let inputs=[Input{name:"a.o",bytes:&a},Input{name:"b.o",bytes:&b}];
 println!("{} {}", a.len(), b.len());
 let m=merge(ElfTarget::X86_64,&inputs).unwrap();
 let l=localise(&m,&|n|n.starts_with("entry")).unwrap();
 let o=SharedOptions{soname:Some("x.so".into()),needed:vec!["libdl.so.2".into()]};
 let s=link_shared(ElfTarget::X86_64,&l,&o).unwrap();
 println!("sizes {} {} {}", m.len(), l.len(), s.len());
 time("merge",||merge(ElfTarget::X86_64,&inputs).unwrap());
 time("localise",||localise(&m,&|n|n.starts_with("entry")).unwrap());
 time("undefined",||undefined(&l,&inputs).unwrap());
 time("link_shared",||link_shared(ElfTarget::X86_64,&l,&o).unwrap());
 std::fs::write("/tmp/lk/m.o",&m).unwrap();
 std::fs::write("/tmp/lk/l.o",&l).unwrap();
 std::fs::write("/tmp/lk/s.so",&s).unwrap();
}
