package main

// The files of the demo's scratch project: a rate limiter in POSIX shell, with one bug.

const demoAgents = `# For agents

turnstile decides which requests pass. It is POSIX shell: no arrays, no local, nothing that only bash has.

- Run the tests with "sh test.sh". They take less than a second. A change is done when they pass.
- test.sh says what is right. Do not change what it wants in order to make it pass.
- All state of a client stands in shell variables that end in its name. Names are lower-case letters, digits and _.
- Whole numbers only. Times are milliseconds.
- Every change gets a line in CHANGES. One commit for one change, "file: what" as its subject.
- logs/ is what the gateway wrote; it is evidence and is never edited.
`

const demoReadme = `# turnstile

Reads lines of "MILLISECONDS CLIENT" and says for each whether the request passes.

    $ printf '0 web\n5 web\n' | sh turnstile.sh
    0 web allow
    5 web allow

Every client has a bucket. It holds at most BURST tokens and earns RATE a second; a request takes one token and is
denied if there is none. The figures stand in conf/limits.conf. With --trace each line also says how the bucket stood.

- turnstile.sh      the command
- lib/limits.sh     reads conf/limits.conf
- lib/bucket.sh     the bucket
- test.sh           the tests
- docs/design.md    why it is built as it is
- docs/incidents.md what went wrong so far
- samples/          requests to play with
- logs/gateway.log  five minutes of the gateway that uses this
`

const demoDesign = `# Design

## What a client is promised

A client that asks at its rate, or slower, is never denied once it has a token. A client that asks faster gets its
rate in the long run, and a burst on top of it after a pause. How often it is looked at must not matter: asking and
being denied costs nothing.

## Why a bucket and not a window

A window of one second lets twice the rate through at its border, and it forgets what a client saved up. A bucket
needs two numbers a client and no list of times. Everything can be worked out at the moment of asking: there is no
timer that has to run, and a client that never comes back costs nothing.

## Whole numbers

The shell has no fractions. Rates are tokens a second and times are milliseconds, so what is earned between two looks
is elapsed * rate / 1000. Nobody has asked for rates below one a second so far.

## What was left out

- Limits for the sum of all clients. The gateway has one of its own.
- Several gateways that share a bucket. Each has its own, and the limits are set with that in mind.
- Waiting. The turnstile says yes or no, and the client decides when to come back.
`

const demoIncidents = `# Incidents

## 12 February: the batch job took the gateway down

The batch client had no line in limits.conf, and there was no default. Its requests met an empty rate, the
arithmetic failed, and the turnstile ended. Since then there is a default line, and a client without one of its own
gets that.

## 21 February: clocks

After a restart the gateway's clock stood four seconds back for a while. Buckets looked at a negative time and lost
tokens. The gateway now sends the time since its own start, which only grows. Nothing was changed here.

## 4 March: the poller

From 09:00 the poller got next to nothing for as long as anybody looked. It asks for its next job about every 150 ms
and has a rate of 5 a second, so about three of four requests should pass. Somebody restarted the poller, and it was
well for two seconds. Nobody else complained. The log of the first five minutes is in logs/gateway.log. Open.
`

const demoLimitsConf = `# client rate burst
default 2 4
web 20 40
ios 10 20
batch 4 20
partner 2 4
poller 5 10
`

const demoLimitsSh = `# Limits of clients, from lines of "CLIENT RATE BURST".

# limits_load FILE: reads the file. A # at the start of a line makes it a comment.
limits_load() {
	while read -r name r b; do
		case $name in
		'' | '#'*) continue ;;
		esac
		eval "rate_$name=$r burst_$name=$b"
	done <"$1"
}

# limits_for CLIENT: sets rate and burst, to those of "default" if the client has no line.
limits_for() {
	eval "rate=\${rate_$1:-\$rate_default} burst=\${burst_$1:-\$burst_default}"
}
`

const demoTurnstile = `#!/bin/sh
# turnstile: reads lines of "MILLISECONDS CLIENT" and says which requests pass.
# usage: sh turnstile.sh [--trace] <requests
set -eu
here=${0%/*}
if [ "$here" = "$0" ]; then
	here=.
fi
. "$here/lib/limits.sh"
. "$here/lib/bucket.sh"
limits_load "$here/conf/limits.conf"

while read -r now client; do
	case $client in
	'' | *[!a-z0-9_]*)
		echo "turnstile: not a client: '$client'" >&2
		exit 2
		;;
	esac
	limits_for "$client"
	bucket_take "$client"
	if [ "${1:-}" = --trace ]; then
		echo "$now ms $client rate=$rate burst=$burst elapsed=$elapsed earned=$earned level=$level $verdict"
	else
		echo "$now $client $verdict"
	fi
done
`

// demoBucket is lib/bucket.sh with the bug. The history begins with demoBucketOld in place of demoBucketBug.
const demoBucket = `# A bucket of tokens for each client. The caller sets now, rate and burst.

# bucket_open CLIENT: a full bucket for a client that is seen for the first time.
bucket_open() {
	eval "seen=\${last_$1:-}"
	if [ -z "$seen" ]; then
		eval "level_$1=$burst last_$1=$now"
	fi
}

# bucket_refill CLIENT: puts in what was earned since the last look, up to burst.
bucket_refill() {
	eval "level=\$level_$1 last=\$last_$1"
	elapsed=$((now - last))
	earned=$((elapsed * rate / 1000))
	level=$((level + earned))
	if [ "$level" -gt "$burst" ]; then
		level=$burst
	fi
` + demoBucketBug + `	eval "level_$1=$level last_$1=$last"
}

# bucket_take CLIENT: takes one token if there is one; verdict is allow or deny.
bucket_take() {
	bucket_open "$1"
	bucket_refill "$1"
	verdict=deny
	if [ "$level" -gt 0 ]; then
		level=$((level - 1))
		verdict=allow
	fi
	eval "level_$1=$level"
}
`

const demoBucketBug = `	last=$now
`

const demoBucketOld = `	if [ "$earned" -gt 0 ]; then
		last=$now # not yet a whole token: look from the same moment again
	fi
`

const demoTest = `#!/bin/sh
# test.sh: asks a bucket many times and counts how often it says yes.
set -u
here=${0%/*}
if [ "$here" = "$0" ]; then
	here=.
fi
. "$here/lib/bucket.sh"
total=0
failed=0

# check NAME RATE BURST STEP COUNT WANT: a client that asks every STEP ms, COUNT times, passes WANT times.
check() {
	total=$((total + 1))
	rate=$2 burst=$3 now=0 asked=0 passed=0
	while [ "$asked" -lt "$5" ]; do
		bucket_take "case$total"
		if [ "$verdict" = allow ]; then
			passed=$((passed + 1))
		fi
		asked=$((asked + 1))
		now=$((now + $4))
	done
	if [ "$passed" -eq "$6" ]; then
		echo "ok $total - $1"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $total - $1"
	echo "#   $5 requests, one every $4 ms, at $2 a second and a burst of $3"
	echo "#   wanted $6 through, got $passed"
}

check "a burst passes whole" 5 10 0 10 10
check "a burst and no more" 5 10 0 25 10
check "a slow client is never denied" 5 10 1000 50 50
check "a client at its rate is never denied" 5 1 200 60 60
check "a client that asks every 150 ms is served at its rate" 5 10 150 200 159
check "a rate that does not divide a second" 3 6 90 300 86
check "a flood gets its rate and no more" 4 20 20 1000 99
check "half the rate, looked at often" 1 1 400 50 20

echo "1..$total"
if [ "$failed" -gt 0 ]; then
	echo "# $failed of $total failed"
	exit 1
fi
echo "# all $total passed"
`

const demoChanges = `# Changes

- limits: a default line, for clients without one of their own.
- bucket: simpler refill.
`
