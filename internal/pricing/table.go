package pricing

import "time"

// The sources, newest last. Each is a text of the provider's or one that reads it; "catwalk" is the catalogue.
const (
	deepseekDocs   = "D"       // api-docs.deepseek.com: guides/kv_cache and quick_start/pricing
	openaiOld      = "O-old"   // OpenAI's prompt-caching guide before GPT-5.6
	anthropicDocs  = "A-docs"  // Anthropic's documentation and announcements
	anthropicSkill = "A-skill" // anthropics/skills at 9d2f1ae1, of 2026-07-01
	comparison     = "X-cmp"   // a comparison of providers of 2026-07-29
	googleDocs     = "G"       // ai.google.dev and docs.cloud.google.com on context caching
	openaiNew      = "O-56"    // OpenAI's prompt-caching guide from GPT-5.6 on
	anthropicNow   = "A-audit" // an audit of platform.claude.com of 2026-09-24; wins over A-skill
)

// The names of families. A change of a family's rules is another row with a date.
const (
	anthropic     = "anthropic"
	openai        = "openai"
	openaiMarked  = "openai-marked"
	gemini        = "gemini"
	deepseek      = "deepseek"
	deepseekUnits = "deepseek-units"
	none          = "none" // a model of Anthropic's of which nothing is cached
)

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}

// families are the rules of each family, older rows first. The row that holds at a time is the last one of its family
// that had begun, or the first one for what was before all of them.
var families = []Rules{
	{
		Family: anthropic, Match: ByMark, Order: [3]Tier{Tools, System, Messages}, Counts: Exclusive,
		Min: 1024, Granularity: 1, Life: 5 * time.Minute, LifeHour: time.Hour,
		Read: 0.10, Write: 1.25, WriteHour: 2.0, Free: "refresh by use",
		Marks: 4, Refuses: true, LookBack: 20,
		Since: day(2024, 8, 14), Source: anthropicSkill,
	},
	{ // a run of calls, or of results, counts as one position; when in 2026 that began is not published
		Family: anthropic, Match: ByMark, Order: [3]Tier{Tools, System, Messages}, Counts: Exclusive,
		Min: 1024, Granularity: 1, Life: 5 * time.Minute, LifeHour: time.Hour,
		Read: 0.10, Write: 1.25, WriteHour: 2.0, Free: "refresh by use",
		Marks: 4, Refuses: true, LookBack: 20, Collapse: true,
		Since: day(2026, 9, 24), Source: anthropicNow,
	},
	{ // in memory: 5-10 minutes idle, at most an hour after the last use
		Family: openai, Match: ByPrefix, Order: [3]Tier{Tools, System, Messages}, Counts: Inclusive,
		Min: 1024, Granularity: 128, Life: 5 * time.Minute, LifeMost: time.Hour,
		Read: 0.50, Write: 1, WriteHour: 1, Free: "writes", Keyed: true,
		Since: day(2024, 10, 1), Source: openaiOld,
	},
	{ // 30 minutes are the least; an implicit breakpoint is one of the four that may be written
		Family: openaiMarked, Match: ByMark, Order: [3]Tier{Tools, System, Messages}, Counts: Inclusive,
		Min: 1024, Granularity: 1, Life: 30 * time.Minute,
		Read: 0.10, Write: 1.25, WriteHour: 1.25, Free: "refresh by use", Keyed: true,
		Marks: 4, LookBack: 50, Implicit: true,
		Since: day(2026, 7, 29), Source: openaiNew,
	},
	{ // implicit caching; its life and its steps are not published, and five minutes are assumed
		Family: gemini, Match: ByPrefix, Order: [3]Tier{System, Tools, Messages}, Counts: Inclusive,
		Min: 4096, Granularity: 1, Life: 5 * time.Minute,
		Read: 0.10, Write: 1, WriteHour: 1, Free: "writes and storage",
		Since: day(2025, 5, 8), Source: googleDocs,
	},
	{ // "a few hours to a few days"; the longest common prefix in storage units of 64 tokens
		Family: deepseek, Match: ByPrefix, Order: [3]Tier{System, Tools, Messages}, Counts: Partitioned, Answers: true,
		Min: 64, Granularity: 64, Life: 3 * time.Hour, LifeMost: 72 * time.Hour,
		Read: 0.10, Write: 1, WriteHour: 1, Free: "writes and storage",
		Since: day(2024, 8, 2), Source: deepseekDocs,
	},
	{ // since sliding windows only whole units match; the interval at which long texts are parted is not published
		Family: deepseekUnits, Match: ByUnit, Order: [3]Tier{System, Tools, Messages}, Counts: Partitioned, Answers: true,
		Min: 64, Granularity: 64, Life: 3 * time.Hour, LifeMost: 72 * time.Hour,
		Read: 0.02, Write: 1, WriteHour: 1, Free: "writes and storage",
		Since: day(2026, 4, 24), Source: deepseekDocs,
	},
}

// row says what is special about the models of a name, or with a star at its end of all names that begin so. What it
// leaves zero stays as an earlier row, the family or the catalogue has it.
type row struct {
	name          string
	since         time.Time // when it began, or when the source said so
	family        string
	min           int
	life          time.Duration
	read          float64 // of the price of input
	in, out       float64 // USD per million tokens
	window, short int     // the context in tokens; short where a client has to ask for the longer one
	output        int     // the longest answer in tokens
	source        string
}

const (
	million  = 1_000_000
	standard = 200_000 // the window of Claude models where nobody asks for more
)

// models are the special rows: general names before special ones, and of one name older rows before newer ones. A row
// that had not begun is left out, unless it is the first of its name.
var models = []row{
	{name: "claude-*", since: day(2024, 8, 14), family: anthropic, source: anthropicDocs},
	{name: "claude-3-sonnet", since: day(2024, 3, 4), family: none, in: 3, out: 15, window: standard, output: 4096, source: anthropicDocs},
	{name: "claude-3-haiku", since: day(2024, 8, 14), min: 2048, source: anthropicDocs},
	{name: "claude-3-5-haiku", since: day(2026, 9, 24), min: 2048, in: 0.8, out: 4, window: standard, output: 8192, source: anthropicNow},
	{name: "claude-3-5-sonnet", since: day(2024, 8, 14), in: 3, out: 15, window: standard, output: 8192, source: anthropicDocs},
	{name: "claude-3-7-sonnet", since: day(2025, 2, 24), in: 3, out: 15, window: standard, output: 64000, source: anthropicDocs},
	{name: "claude-opus-4", since: day(2026, 9, 24), min: 1024, in: 15, out: 75, source: anthropicNow},
	{name: "claude-opus-4-1*", since: day(2026, 9, 24), min: 1024, source: anthropicNow},
	{name: "claude-sonnet-4", since: day(2026, 9, 24), min: 1024, short: standard, source: anthropicNow},
	{name: "claude-sonnet-4-5*", since: day(2026, 9, 24), min: 1024, short: standard, source: anthropicNow},
	{name: "claude-haiku-4-5*", since: day(2026, 9, 24), min: 4096, source: anthropicNow},
	{name: "claude-haiku-4-5", since: day(2026, 9, 24), in: 1, out: 5, source: anthropicNow},
	{name: "claude-opus-4-5*", since: day(2026, 9, 24), min: 4096, source: anthropicNow},
	{name: "claude-opus-4-6*", since: day(2026, 9, 24), min: 4096, source: anthropicNow},
	{name: "claude-opus-4-6", since: day(2026, 9, 24), in: 5, out: 25, short: standard, source: anthropicNow},
	{name: "claude-sonnet-4-6*", since: day(2026, 9, 24), min: 1024, source: anthropicNow},
	{name: "claude-sonnet-4-6", since: day(2026, 9, 24), in: 3, out: 15, short: standard, source: anthropicNow},
	{name: "claude-opus-4-7*", since: day(2026, 9, 24), min: 2048, source: anthropicNow},
	{name: "claude-opus-4-7", since: day(2026, 9, 24), in: 5, out: 25, source: anthropicNow},
	{name: "claude-mythos-preview", since: day(2026, 4, 7), min: 2048, in: 25, out: 125, window: million, output: 128000, source: anthropicDocs},
	{name: "claude-opus-4-8*", since: day(2026, 9, 24), min: 1024, source: anthropicNow},
	{name: "claude-opus-4-8", since: day(2026, 9, 24), in: 5, out: 25, source: anthropicNow},
	{name: "claude-sonnet-5", since: day(2026, 9, 24), min: 1024, in: 2, out: 10, source: anthropicNow},
	{name: "claude-opus-5*", since: day(2026, 9, 24), min: 512, source: anthropicNow},
	{name: "claude-opus-5", since: day(2026, 9, 24), in: 5, out: 25, source: anthropicNow},
	{name: "claude-opus-5-5*", since: day(2026, 9, 24), read: 0.05, source: anthropicNow},
	{name: "claude-opus-5-5", since: day(2026, 9, 24), in: 4, out: 20, window: million, output: 128000, source: anthropicNow},
	{name: "claude-fable-5", since: day(2026, 9, 24), min: 512, in: 10, out: 50, source: anthropicNow},
	{name: "claude-mythos-5", since: day(2026, 9, 24), min: 512, source: anthropicNow},
	{name: "claude-fable-5-1", since: day(2026, 9, 24), min: 512, read: 0.025, in: 10, out: 50, window: million, output: 128000, source: anthropicNow},
	{name: "claude-mythos-5-1", since: day(2026, 9, 24), min: 512, read: 0.025, in: 10, out: 50, window: million, output: 128000, source: anthropicNow},

	{name: "gpt-4o*", since: day(2024, 10, 1), family: openai, read: 0.50, source: openaiOld},
	{name: "o1*", since: day(2024, 12, 17), family: openai, read: 0.50, source: openaiOld},
	{name: "o3*", since: day(2025, 4, 16), family: openai, read: 0.25, source: openaiOld},
	{name: "o3-mini", since: day(2025, 1, 31), read: 0.50, source: openaiOld},
	{name: "o4*", since: day(2025, 4, 16), family: openai, read: 0.25, source: openaiOld},
	{name: "codex-mini", since: day(2025, 5, 16), family: openai, read: 0.25, source: openaiOld},
	{name: "gpt-4.1*", since: day(2025, 4, 14), family: openai, read: 0.25, source: openaiOld},
	{name: "gpt-4.1", since: day(2025, 4, 14), life: 5 * time.Minute, source: openaiOld},
	{name: "gpt-4.1", since: day(2025, 11, 13), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5*", since: day(2025, 8, 7), family: openai, read: 0.10, source: openaiOld},
	{name: "gpt-5", since: day(2025, 8, 7), life: 5 * time.Minute, source: openaiOld},
	{name: "gpt-5", since: day(2025, 11, 13), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5.1*", since: day(2025, 11, 13), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5.2", since: day(2025, 12, 11), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5.4", since: day(2026, 7, 29), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5.4-pro", since: day(2026, 7, 29), read: 1, source: catalogued},
	{name: "gpt-5.5", since: day(2026, 7, 29), life: 24 * time.Hour, source: openaiNew},
	{name: "gpt-5.5-pro", since: day(2026, 7, 29), read: 1, source: catalogued},
	{name: "gpt-5.6*", since: day(2026, 7, 29), family: openaiMarked, read: 0.10, source: openaiNew},
	{name: "gpt-5.6-sol", since: day(2026, 7, 29), in: 5, source: comparison},

	{name: "gemini-2.5*", since: day(2025, 5, 8), family: gemini, min: 4096, source: googleDocs},
	{name: "gemini-2.5*", since: day(2026, 7, 29), min: 2048, source: comparison},
	{name: "gemini-2.5-flash*", since: day(2025, 5, 8), min: 1024, source: googleDocs},
	{name: "gemini-2.5-flash*", since: day(2026, 7, 29), min: 2048, source: comparison},
	{name: "gemini-3*", since: day(2025, 11, 18), family: gemini, min: 4096, source: googleDocs},
	{name: "gemini-3-flash*", since: day(2025, 12, 17), min: 1024, source: googleDocs},

	{name: "deepseek-v3*", since: day(2024, 12, 26), family: deepseek, source: deepseekDocs},
	{name: "deepseek-chat", since: day(2025, 2, 8), family: deepseek, read: 0.07 / 0.27, in: 0.27, out: 1.10, window: 64000, output: 8192, source: deepseekDocs},
	{name: "deepseek-chat", since: time.Date(2025, 9, 5, 16, 0, 0, 0, time.UTC), read: 0.07 / 0.56, in: 0.56, out: 1.68, window: 128000, source: deepseekDocs},
	{name: "deepseek-chat", since: day(2025, 9, 29), read: 0.10, in: 0.28, out: 0.42, source: deepseekDocs},
	{name: "deepseek-chat", since: day(2026, 4, 24), family: deepseekUnits, read: 0.02, in: 0.14, out: 0.28, window: million, output: 384000, source: deepseekDocs},
	{name: "deepseek-reasoner", since: day(2025, 2, 8), family: deepseek, read: 0.14 / 0.55, in: 0.55, out: 2.19, window: 64000, output: 64000, source: deepseekDocs},
	{name: "deepseek-reasoner", since: time.Date(2025, 9, 5, 16, 0, 0, 0, time.UTC), read: 0.07 / 0.56, in: 0.56, out: 1.68, window: 128000, source: deepseekDocs},
	{name: "deepseek-reasoner", since: day(2025, 9, 29), read: 0.10, in: 0.28, out: 0.42, source: deepseekDocs},
	{name: "deepseek-reasoner", since: day(2026, 4, 24), family: deepseekUnits, read: 0.02, in: 0.14, out: 0.28, window: million, output: 384000, source: deepseekDocs},
	{name: "deepseek-v4*", since: day(2026, 4, 24), family: deepseekUnits, source: deepseekDocs},
	{name: "deepseek-v4-flash", since: day(2026, 7, 29), read: 1.0 / 50, in: 0.14, out: 0.28, source: comparison},
	{name: "deepseek-v4-pro", since: day(2026, 7, 29), read: 1.0 / 120, in: 0.435, out: 0.87, source: comparison},
}
