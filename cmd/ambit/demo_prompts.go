package main

// What the person and the agents of the demo are told. The script finds its conversations and its branch by parts of
// these texts.

const demoSystem = `You are a coding agent in a terminal. You work on one project, in the current folder, with the tools you are given.

Read before you judge. Read AGENTS.md first, and then what the question touches: the code, its tests, its history, and what it did in use. Say in a sentence or two what you are about to look at and why, and then look. When several looks do not depend on each other, take them in one turn.

Find the cause before you change anything. A cause explains all that was seen: what fails, what does not, and since when. If you have an idea, find the observation that would prove it wrong, and make it.

Change as little as is needed, in the style of what stands there. Run the tests after every change. A test that fails is told as a failure, with what it wanted and what it got. Do not change a test in order to make it pass.

Give work that needs much reading and little judgement to a second agent with the task tool, and tell it what you want to know and in which form.

When you are done say what you found or did, in a few sentences that a reader can check, with names of files and figures. No praise, no lists of what you might do next.`

const demoSubSystem = `You read logs for another agent. You can read files and run commands, and you change nothing.

Count rather than guess. Say which lines a figure comes from, so that it can be counted again. Look at more than you were asked about if it would change the answer, and say that you did.

Your last message is all that the other agent sees of your work. Keep it under twenty lines: figures first, then what they say, then what you could not find out.`

// demoAskStart is by what the script knows the main conversation.
const demoAskStart = `The turnstile denies the poller nearly everything`

const demoAsk = demoAskStart + `, though it asks only a little faster than its rate. docs/incidents.md has what we know, under 4 March, and logs/gateway.log has five minutes of it.

Find out why. Change nothing in lib/ yet: tell me the cause first, and write what you find to notes/finding.md.`

const demoRepair = `That fits what we saw. Repair it in lib/bucket.sh and run the tests.`

// demoRepairAgain is the same prompt after the rewind; its first sentence takes the script's other branch.
const demoRepairAgain = demoOtherWay + ` Do not round in either direction: a look must neither take nor give. Repair it in lib/bucket.sh and run the tests, and show on samples/morning.txt what it changes for each client.`

const demoOtherWay = `That fits what we saw. Keep what is left over from one look to the next.`

const demoCommitIt = `Good. Write the line in CHANGES and commit it, the note included.`

// demoTaskStart is by what the script knows the sub-agent's conversation.
const demoTaskStart = `Read logs/gateway.log and tell me for every client how many of its requests were allowed and how many denied`

const demoTask = demoTaskStart + `, and about how far apart they come. Then look at the moments at which the poller was allowed after its first second: what came before each of them? Say whether any other client starves in the same way. The fields are named in each line: client=, verdict=; the time stands first. conf/limits.conf has rate and burst of each client.`

// demoSummarise is what the client asks by itself when it compacts.
const demoSummarise = `This conversation has become long. Write a summary from which you can go on without it: what was asked, what you found, what you changed, and what is still open, with names of files and the figures that matter, but no output of commands. Answer with the summary alone, and call no tool.`

// demoGoOn begins the conversation after a compaction; the summary comes behind it. The script knows it by this text.
const demoGoOn = `What was said so far had to make room. This summary stands in its place; go on from there.

`

const demoTellOwner = `The poller's owner asks what we did. Write them a short note, notes/poller.md: what was wrong, what they get from now on, and which commit has it. Look the figures up again. Do not commit the note.`
