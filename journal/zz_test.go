package journal_test
import ("testing";"time";"fmt";"math/rand/v2";"path";"bytes";"runtime")
func TestZZ(t *testing.T){
	m := written()
	log := read(m, path.Join(folder, "bodies", "literals.log"))
	entries := read(m, path.Join(folder, "entries", "000000000001.jsonl"))
	rng:=rand.New(rand.NewPCG(1,1))
	for i:=range 3000 {
		l,e:=bytes.Clone(log),bytes.Clone(entries)
		for range 1+rng.IntN(4) { l[rng.IntN(len(l))]=byte(rng.IntN(256)); if rng.IntN(4)==0{e[rng.IntN(len(e))]=byte(rng.IntN(256))} }
		if i%2==0 {sealAll(l)}
		t0:=time.Now()
		useSession(t,l,e)
		if d:=time.Since(t0); d>200*time.Millisecond { fmt.Println(i,d) }
	}
	var ms runtime.MemStats; runtime.ReadMemStats(&ms); fmt.Println(ms.Sys>>20, ms.TotalAlloc>>20)
}
