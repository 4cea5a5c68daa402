package main

import "ambit/provider/scripted"

// demoScript is what the demo's provider answers: the story of a limiter that starves the client that asks most
// often. The figures in it are those of demoTraffic and of the tests, and a test holds them to it.
func demoScript() scripted.Script {
	return scripted.Script{Conversations: []scripted.Conversation{
		{
			Match:    demoAskStart,
			Turns:    append(demoSearch(), demoWrongRepair()...),
			Branches: []scripted.Branch{{When: demoOtherWay, Turns: demoRightRepair()}},
		},
		{Match: demoTaskStart, Turns: demoLogReading()},
		{Match: demoGoOn, Turns: demoNoteToOwner()},
	}}
}

// demoTurn is a turn of a text and calls.
func demoTurn(text string, calls ...scripted.Call) scripted.Turn {
	return scripted.Turn{Text: text, Calls: calls}
}

func demoBash(command string) scripted.Call {
	return scripted.Call{Name: "bash", Args: map[string]any{"command": command}}
}

func demoRead(path string) scripted.Call {
	return scripted.Call{Name: "read_file", Args: map[string]any{"path": path}}
}

func demoGrep(pattern, path string) scripted.Call {
	return scripted.Call{Name: "grep", Args: map[string]any{"pattern": pattern, "path": path}}
}

func demoWrite(path, content string) scripted.Call {
	return scripted.Call{Name: "write_file", Args: map[string]any{"path": path, "content": content}}
}

func demoEdit(path, old, new string) scripted.Call {
	return scripted.Call{Name: "edit_file", Args: map[string]any{"path": path, "old": old, "new": new}}
}

// demoSearch leads from the question to the cause.
func demoSearch() []scripted.Turn {
	return []scripted.Turn{
		demoTurn("I'll begin with the rules of the project, its history and the report.",
			demoRead("AGENTS.md"), demoBash("git log --date=short --format='%h %ad %s' && ls -R . | head -40"), demoRead("docs/incidents.md")),
		demoTurn("The report leaves one thing open: whether the poller really stays near its rate. 150 ms is 6.7 requests a second against a rate of 5, so three of four should pass. Now what the project says of itself.",
			demoRead("README.md")),
		demoTurn("The command is short. I'll read it before the libraries.", demoRead("turnstile.sh")),
		demoTurn("Both libraries and the limits belong together, so I'll read them in one go.",
			demoRead("lib/limits.sh"), demoRead("lib/bucket.sh"), demoRead("conf/limits.conf")),
		demoTurn("limits.sh gives the poller 5 a second and a burst of 10, as it should. That leaves the bucket. What do the tests ask of it?", demoRead("test.sh")),
		demoTurn("Four of these tests ask in steps that earn less than a whole token. Let me see which fail.", demoBash("sh test.sh")),
		demoTurn("Exactly those four fail, and in each the client gets its burst and then nothing: 10, 6, 20 and 1. So the bucket is never filled again. Before I believe that it is the same in use, I want to see the log.",
			demoBash("sed -n 1,800p logs/gateway.log")),
		{
			Text:  "The poller is allowed ten times in a row, then denied. I'll look at its lines alone.",
			Calls: []scripted.Call{demoBash("grep client=poller logs/gateway.log | head -n 500")},
			Fault: &scripted.Fault{Status: 529, Message: "Overloaded", RetryAfter: "0"},
		},
		demoTurn("Denied without end, while it keeps asking. How many passed in the whole log?", demoGrep("client=poller .*verdict=allow", "logs/gateway.log")),
		demoTurn("Twenty: ten at the start and then a few now and then, always two or three together. Those are worth a closer look, and so are the other clients. That is much reading, so a second agent shall do it.",
			scripted.Call{Name: "task", Args: map[string]any{"prompt": demoTask}}),
		demoTurn("So after a pause of more than half a second the poller gets what it earned in that pause, and nothing at any other time. What matters is the time between two looks. What does the design promise?", demoRead("docs/design.md")),
		demoTurn("\"How often it is looked at must not matter: asking and being denied costs nothing.\" That is the promise that is broken. The arithmetic is in bucket_refill: at 150 ms and 5 a second, 150 * 5 / 1000 is 0 in whole numbers, and then last=$now throws the 150 ms away. Since when?",
			demoBash("git log -p --date=short --format='%n%h %ad %s' -- lib/bucket.sh")),
		demoTurn("The refill was simplified on 3 March, one day before the report. Before, the time of the last look stayed where it was until a whole token had been earned. Let me watch it happen on the sample.",
			demoBash("sh turnstile.sh --trace <samples/morning.txt")),
		demoTurn("Every line of the poller says earned=0. Is there a single one that does not?", demoBash("sh turnstile.sh --trace <samples/morning.txt | grep poller | cut -d' ' -f7 | sort | uniq -c")),
		demoTurn("None in 229 lines. If the idea is right, a step of 199 ms must starve and one of 200 ms must not. That would be hard to explain in another way.",
			demoBash("for step in 150 199 200 250; do now=0; n=0; while [ $n -lt 100 ]; do echo \"$now poller\"; n=$((n + 1)); now=$((now + step)); done | sh turnstile.sh | grep -c allow; done")),
		demoTurn("10, 10, 100, 100: the border is where one step earns one token. Was it right before it was simplified?",
			demoBash("mkdir -p old/lib && cp test.sh old/ && git show HEAD~2:lib/bucket.sh >old/lib/bucket.sh && (cd old && sh test.sh); rm -r old")),
		demoTurn("No: 109, 80, 96 and 17 in place of 159, 86, 99 and 20. The first version kept the time until a token was whole, and then threw the fraction away. It starved nobody, but it gave less than it should. So the old lines are not the repair. Does anything else use the time of the last look?",
			demoGrep("last|elapsed|earned", "lib")),
		demoTurn("Only bucket_refill. I'll write it down now.", demoWrite("notes/finding.md", demoFinding)),
		demoTurn("And make sure that nothing else has changed.", demoBash("git status --short --untracked-files=all")),
		demoTurn(`The cause is lib/bucket.sh, line 20: bucket_refill sets last=$now at every look, also when what was earned since the last look rounds to nothing. A client that always asks again before it has earned a whole token therefore never earns one.

It explains all that was seen: the poller asks every 151 ms and earns a token in 200 ms, so it got its burst of ten, then nothing but two or three after each pause (20 of 1,987 in the log). web, ios and partner never ask again before they have earned a token, and batch lives off its burst and rests for ten seconds. The border is exact: in steps of 199 ms 10 of 100 pass, in steps of 200 ms all do. It came with "bucket: simpler refill" on 3 March. The version before lost fractions too, only fewer of them, so going back is not enough.

test.sh fails in four of eight for this reason. lib/ is as it was; the note is in notes/finding.md.`),
	}
}
