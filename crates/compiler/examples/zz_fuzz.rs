//! fuzz
use kernpack_compiler::link::*;
fn main(){
 let seed:u64=std::env::args().nth(1).unwrap().parse().unwrap(); let n:u64=std::env::args().nth(2).unwrap().parse().unwrap();
 let files:Vec<Vec<u8>>=["/tmp/lk/a1.o","/tmp/lk/b.o","/tmp/lk/dbg.o","/tmp/lk/lib.a"].iter().map(|f|std::fs::read(f).unwrap()).collect();
 let mut x=seed; let mut r=move||{x^=x<<13;x^=x>>7;x^=x<<17;x};
 let (mut ok,mut bad)=(0,[0;4]); let mut texts=std::collections::BTreeMap::<String,u32>::new();
 for i in 0..n {
  let mut a=files[(r()%4) as usize].clone();
  let k=1+r()%4; for _ in 0..k { let p=(r()%a.len() as u64) as usize; match r()%3 {0=>a[p]=r() as u8,1=>a[p]^=1<<(r()%8), _=>{ let q=p.min(a.len()-8); a[q..q+4].copy_from_slice(&(r() as u32>>(r()%32)).to_le_bytes()); }} }
  if r()%20==0 { let l=(r()%a.len() as u64) as usize; a.truncate(l);}
  let inputs=[Input{name:"fuzz.o",bytes:&a},Input{name:"b.o",bytes:&files[1]}];
  let skip=std::env::args().nth(3).is_some();
  if skip { std::fs::write("/tmp/lk/last.o",&a).unwrap(); }
  let res=merge(ElfTarget::X86_64,&inputs).and_then(|m|{undefined(&m,&inputs)?; localise(&m,&|n|n.starts_with("entry"))}).and_then(|l|link_shared(ElfTarget::X86_64,&l,&SharedOptions::default()));
  match res { Ok(_)=>ok+=1, Err(e)=>{ let s=e.to_string(); let idx=match e {LinkError::Unreadable{..}=>0,LinkError::WrongTarget{..}=>1,LinkError::Refused{..}=>2,_=>3}; bad[idx]+=1; if idx==3 {eprintln!("{i}: {s}"); std::fs::write("/tmp/lk/crash.o",&a).unwrap(); break;} if idx==2 { let key:String=s.split(|c:char|c.is_ascii_digit()).next().unwrap().chars().take(90).collect(); *texts.entry(key).or_default()+=1; if s.contains("/proc")||s.contains("ld.lld") {eprintln!("LEAK {s}");} } } }
 }
 eprintln!("ok {ok} bad {bad:?}"); let mut v:Vec<_>=texts.into_iter().collect(); v.sort_by_key(|x|std::cmp::Reverse(x.1)); for (t,c) in v.iter().take(25) {eprintln!("{c} {t}");}
 let good=[Input{name:"a",bytes:&files[0]},Input{name:"b",bytes:&files[1]}]; merge(ElfTarget::X86_64,&good).unwrap();
 eprintln!("threads {}", std::fs::read_dir("/proc/self/task").unwrap().count()); eprintln!("fds {}", std::fs::read_dir("/proc/self/fd").unwrap().count());
}
