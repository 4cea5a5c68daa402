package main

import "ambit/provider/scripted"

// demoTally is the command that counts verdicts on the sample.
const demoTally = "sh turnstile.sh <samples/morning.txt | cut -d' ' -f2,3 | sort | uniq -c"

const demoFinding = `# Why the poller starves

Cause: bucket_refill in lib/bucket.sh sets last=$now at every look. What was earned since the last look is
elapsed * rate / 1000 in whole numbers. If that is 0, the time is lost.

- The poller asks every 151 ms and has 5 a second: 151 * 5 / 1000 is 0, at every look.
- In logs/gateway.log it is allowed 20 times of 1,987: ten at the start, and two or three after each of four pauses.
- Steps of 199 ms: 10 of 100 pass. Steps of 200 ms: 100 of 100 pass.
- Since "bucket: simpler refill". Before that a fraction was lost only when a token was earned: 109 of 200 passed where
  159 should.

docs/design.md promises that asking and being denied costs nothing. The last four tests hold it to that.
`

// demoLogReading is the sub-agent's work on demoTask.
func demoLogReading() []scripted.Turn {
	return []scripted.Turn{
		demoTurn("Counting first.", demoBash("for c in web ios batch partner poller; do echo \"$c allow $(grep -c \"client=$c .*=allow\" logs/gateway.log) deny $(grep -c \"client=$c .*=deny\" logs/gateway.log)\"; done")),
		demoTurn("Only the poller is denied at all. Rates and bursts:", demoRead("conf/limits.conf")),
		demoTurn("Which of the poller's own requests were allowed?", demoBash("grep client=poller logs/gateway.log | grep -n verdict=allow | cut -d' ' -f1,3")),
		demoTurn("After the tenth they stand at 401, 801, 1201 and 1601. I'll read the log around the first of these.",
			scripted.Call{Name: "read_file", Args: map[string]any{"path": "logs/gateway.log", "offset": 1000, "limit": 400}}),
		demoTurn("Between lines 1205 and 1214 the poller was silent for 606 ms. Is it the same at the other three?",
			demoBash("for n in 800 1200 1600; do grep client=poller logs/gateway.log | sed -n \"${n},$((n + 1))p\" | cut -d' ' -f1; done")),
		demoTurn("It is: about 0.6 s each. How far apart do the partner's requests come, which has the lowest rate?", demoBash("grep client=partner logs/gateway.log | head -n 40 | cut -d' ' -f1,6")),
		demoTurn(`Allowed and denied in logs/gateway.log, 6,000 lines:
- web 1825 / 0, about 164 ms apart, rate 20
- ios 1195 / 0, about 250 ms apart, rate 10
- batch 600 / 0, twenty at once every ten seconds, rate 4, burst 20
- partner 393 / 0, about 760 ms apart, rate 2
- poller 20 / 1967, about 151 ms apart, rate 5

The poller's first ten requests pass. After that only its requests 401-403, 801-802, 1201-1203 and 1601-1602 do. Before each of these groups it was silent for about 0.6 s (for instance lines 1205 to 1214), four times the usual.
No other client is denied even once. web, ios and partner leave enough time between two requests to earn a token; batch asks twenty times at once, which is its burst, and then rests. The poller alone asks again and again before it has earned one.
Not found out: why the poller pauses after every 400 requests.`),
	}
}

// demoWrongRepair rounds up, which the tests refuse. The client goes back to before it.
func demoWrongRepair() []scripted.Turn {
	return []scripted.Turn{
		demoTurn("The smallest change: a look that earns a part of a token earns a whole one.",
			demoEdit("lib/bucket.sh", "\tearned=$((elapsed * rate / 1000))\n", "\tearned=$(((elapsed * rate + 999) / 1000))\n")),
		demoTurn("", demoBash("sh test.sh")),
		demoTurn("The same four fail, now in the other direction: 200, 300, 1000 and 50, which is every single request. And on the sample?", demoBash(demoTally)),
		demoTurn(`This is not a repair. Rounding up gives each look a token, so whoever asks often enough is never denied: all 229 of the poller's requests in the sample pass, and the flood of 1,000 in test.sh passes whole where 99 should. lib/bucket.sh has the change, and four of eight tests fail.`),
	}
}

// demoRightRepair keeps the remainder, and then commits.
func demoRightRepair() []scripted.Turn {
	return []scripted.Turn{
		demoTurn("So the fraction must be kept. I'll read the bucket once more, as it stands.", demoRead("lib/bucket.sh")),
		demoTurn("First the sample as it is now, to compare with.", demoBash(demoTally)),
		demoTurn("A bucket gets a third number, part: thousandths of a token, from 0 to 999. It starts at nothing.",
			demoEdit("lib/bucket.sh", "\t\teval \"level_$1=$burst last_$1=$now\"\n", "\t\teval \"level_$1=$burst part_$1=0 last_$1=$now\"\n")),
		demoTurn("elapsed * rate is in thousandths already, so it is added as it is; whole tokens are taken out of it and the rest stays. A full bucket earns nothing, so there the rest is dropped.",
			demoEdit("lib/bucket.sh", demoRefillOld, demoRefillNew)),
		demoTurn("", demoBash("sh test.sh")),
		demoTurn("All eight pass, with exactly the numbers that were wanted. The sample again:", demoBash(demoTally)),
		demoTurn("The poller gets 180 of 229 where it got 10: its burst of ten and five a second over 34 seconds. The other four are as before. I want to see in the trace that their levels make sense too.",
			demoBash("sh turnstile.sh --trace <samples/morning.txt")),
		demoTurn("They do: no level is above its burst or below nothing. The whole change:", demoBash("git diff -- lib")),
		demoTurn(`Repaired in lib/bucket.sh: a bucket now carries the thousandths of a token that a look could not pay out. Nothing is rounded, so it no longer matters how often a client is looked at.

All eight tests pass. On samples/morning.txt, allowed before and after: web 209 and 209, ios 137 and 137, batch 80 and 80, partner 45 and 45, poller 10 and 180 of 229.`),

		demoTurn("The line goes at the end.", demoRead("CHANGES")),
		demoTurn("", demoEdit("CHANGES", "- bucket: simpler refill.\n", "- bucket: simpler refill.\n- bucket: carry the remainder from look to look, so that asking often costs nothing.\n")),
		demoTurn("Once more the tests, on what will be committed.", demoBash("sh test.sh")),
		demoTurn("", demoBash("git add -A && git -c user.name='Ambit Demo' -c user.email=demo@example.invalid commit -q -m 'bucket: carry the remainder between looks' && git log -n 4 --format='%h %s'")),
		demoTurn("", demoBash("git show --stat --format=%s HEAD && git status --short")),
		demoTurn(`Committed as "bucket: carry the remainder between looks": lib/bucket.sh, CHANGES and notes/finding.md. The tests pass and nothing is left over. The incident of 4 March in docs/incidents.md still says "Open"; I left that to you, since the gateway does not run this version yet.`),

		demoTurn(demoSummary),
	}
}

// demoSummary is what the agent keeps of its work when it compacts: no output, and not the commit's hash.
const demoSummary = `What was asked: why the poller is denied nearly always, though it asks only a little faster than its rate; then a repair that rounds in neither direction; then a commit.

What was found: bucket_refill in lib/bucket.sh set last=$now at every look, also when what was earned since the last look was less than one token. A client that asked again before it had earned one therefore never got one. The poller asks every 151 ms and earns a token in 200 ms. It came with "bucket: simpler refill"; no other client was denied. notes/finding.md has the details.

What was changed: in lib/bucket.sh a bucket has a third number, part, in which thousandths of a token are carried from look to look. All eight tests of test.sh pass. On samples/morning.txt the poller gets more than before, and the others get the same. CHANGES has its line. Committed as "bucket: carry the remainder between looks", with notes/finding.md.

Still open: docs/incidents.md says "Open" under 4 March, because the gateway does not run this version yet.`

// demoFixedIn is the commit that the agent makes, as git abbreviates it; all that it depends on is made up here.
const demoFixedIn = "15db942"

const demoOwnerNote = `# To the owner of the poller

Since "bucket: simpler refill" of 3 March the turnstile gave you your burst and then next to nothing. Whoever asked again
before a whole token was earned lost what had been earned, and you ask every 151 ms where a token takes 200 ms.

Commit ` + demoFixedIn + ` of 4 March carries the rest from look to look. In samples/morning.txt 180 of your 229 requests
pass where 10 did: a burst of 10, and 5 a second. You need not change anything. The gateway does not run it yet.
`

// demoNoteToOwner is what the agent does after the compaction, on demoTellOwner.
func demoNoteToOwner() []scripted.Turn {
	return []scripted.Turn{
		demoTurn("The summary has neither the commit's hash nor the figures of the sample, so I'll look again: the commit, and the poller before and after it.",
			demoBash("git log -n 1 --date=short --format='%h %ad %s'"),
			demoBash("mkdir -p old/lib && cp -r turnstile.sh conf old/ && cp lib/limits.sh old/lib/ && git show HEAD~1:lib/bucket.sh >old/lib/bucket.sh && for d in old .; do sh $d/turnstile.sh <samples/morning.txt | grep poller | cut -d' ' -f2,3 | sort | uniq -c; done; rm -r old")),
		demoTurn("10 of 229 before, 180 of 229 now.", demoWrite("notes/poller.md", demoOwnerNote)),
		demoTurn("The note is in notes/poller.md, not committed. It names " + demoFixedIn + ` and what the poller gets on samples/morning.txt, 180 of 229 requests where it got 10, and says that the gateway does not run it yet.`),
	}
}

// demoRefillOld and demoRefillNew are the middle of bucket_refill before and after.
const demoRefillOld = `	eval "level=\$level_$1 last=\$last_$1"
	elapsed=$((now - last))
	earned=$((elapsed * rate / 1000))
	level=$((level + earned))
	if [ "$level" -gt "$burst" ]; then
		level=$burst
	fi
	last=$now
	eval "level_$1=$level last_$1=$last"
`

const demoRefillNew = `	eval "level=\$level_$1 part=\$part_$1 last=\$last_$1"
	elapsed=$((now - last))
	part=$((part + elapsed * rate))
	earned=$((part / 1000))
	part=$((part % 1000))
	level=$((level + earned))
	if [ "$level" -gt "$burst" ]; then
		level=$burst
		part=0
	fi
	last=$now
	eval "level_$1=$level part_$1=$part last_$1=$last"
`
