package excerpt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words that make a sentence a constraint, a preference or a prohibition. They are sought as whole words in a sentence
// in small letters whose other characters are spaces; those of scripts without spaces anywhere. The lists come from the
// rules that people wrote into instruction files and prompts of coding agents, and from grammars. Strict ones count
// everywhere; the others only where a person speaks.
var (
	strictCues = cueList(`must|mustn't|must not|never|always|do not|don't|dont|shall|shan't|under no circumstances|forbidden|prohibited|not allowed|mandatory|required to
		|make sure|ensure that|from now on|at all costs|is not to|are not to|off limits|on no account|by no means|no exceptions|have to|has to|cannot be changed|hands off
		|darf|dürfen|niemals|auf keinen fall|muss|müssen|verboten|immer|stelle sicher|ab jetzt|ab sofort
		|jamais|toujours|doit|doivent|interdit|interdite|il faut|ne doit pas|désormais|assurez vous|assure toi
		|nunca|siempre|debe|deben|prohibido|jamás|asegúrate|asegúrese|a partir de ahora|hay que
		|никогда|всегда|нельзя|должен|должны|должна|запрещено`)

	looseCues = cueList(`should|shouldn't|should not|ought|need to|needs to|needs|need|needn't|only|solely|exclusively|strictly|exactly|precisely|keep|keeps|kept|avoid|avoids|avoiding|prefer|prefers|preferred|preferably|preference
		|favor|favour|rather|instead of|instead|refrain|use|uses|using|stick|stay|stays|remain|remains|going forward|henceforth|hereafter|remember|forget|bear in mind|keep in mind|note that
		|without|at most|at least|no more|no less|no fewer|no later|no longer|no earlier|more than|fewer than|less than|longer than|shorter than|larger than|smaller than|maximum|minimum|max|min|limit|limits|limited|exceed|exceeds|exceeding|up to|cap|capped|within|under|beyond
		|required|require|requires|requirement|requirements|compulsory|obligatory|necessary|essential|crucial|critical|vital|important|imperative|non negotiable|nonnegotiable|banned|disallowed|not permitted|permitted|allowed|allow|permission|approval|approve|approved|acceptable|unacceptable|no go|not ok|not okay|not fine|illegal|taboo
		|until|unless|except|excluding|exclude|excluded|before you|before any|before each|before every|before the|before doing|before committing|before making|before changing|before adding|before running|after each|after every|after any|each time|every time|whenever|wherever|in every|for every|in each|for each|if you|when you|as soon as|once you
		|ask me|ask first|ask before|check with|confirm with|consult|let me know before|tell me before|wait for|wait until|hold off|sign off
		|untouched|unchanged|unmodified|intact|as is|as they are|as it is|leave|leaves|alone|backward|backwards|compatible|compatibility|stable|read only|readonly|frozen|freeze|locked|sacred|immutable|stay away|stay out|stay off|keep away|keep out|steer clear|nobody|no one|nothing|none|neither|nor|cannot|can't|can not|may not|won't|will not|would not|wouldn't|doesn't|does not|isn't|is not|aren't|are not|not to|but not|and not|or not|never mind|not
		|whatever you do|no matter|regardless|in any case|in all cases|in no case|at any time|at no time|at no point|everywhere|every|nowhere|i want|i'd like|i would like|we want|i like|i need|we need|i hate|i dislike|i insist|i expect|we expect|i'd rather|i would rather|i love
		|our policy|policy|convention|conventions|rule|rules|guideline|guidelines|constraint|constraints|restriction|house style|code style|budget|deadline
		|per|insist|insists|forbid|forbids|protected|set in stone|fixed|to be|nowhere else|nothing else|mustnt|shouldnt|cant|wont|isnt|doesnt|arent|not yours|i can't stand|no matter how|first then|concise|briefly|our linter|our formatter|indentation|disabled|goes through|go through|goes to|go to|goes into|go into|characters|words|tops|ceiling|that's it|yourself|hide|hides|settle|plain language|owns|fragile|matters|it is|may be|breaks our|out of the question|out of bounds|disaster|disastrous|confine|outside|at the most|smallest|shortest|fewest|offline|allergic|beats|beat|outranks|secondary|priority|kebab case|camelcase|camel case|snake case|snakecase|pascalcase|lower case|lowercase|upper case|uppercase
		|cheating|ask|asking|unsure|in doubt|bullet points|one sentence|as a table|is generated|are generated|auto generated|generated file|wish|wishes|hopefully|ideally|at best|no need|unwanted|undesirable|welcome|fine with me|deal breaker|dealbreaker|red line|boundary|legal|compliance|agreed|agreement|promise|promised|guaranteed|sensitive|production
		|skip|ignore|stop|quit|cease|limit yourself|restrict|restricted|respect|follow|follows|adhere|comply|conform|obey|honor|honour|abide|preserve|retain|maintain|guarantee|ensure|be sure|be careful|careful|carefully|take care|mind|beware|watch out|double check|treat|assume|default to|defaults to|by default|go with|opt|choose|pick|target|support|supports|belongs|belong|goes in|go in|goes under|go under|live in|lives in|lives under
		|no|not|zero|out of scope|in scope|scope|secret|secrets|confidential|private|trust|let's|let us|please don't|please do|supposed to|expected to|meant to|allowed to|feel free|you may|you can|it is fine|it's fine|okay to|ok to
		|in english|in german|in french|in spanish|in chinese|in japanese|in british english|in american english|respond|reply|answer in|write in|speak
		|nicht|nie|finger weg|tabu|untersagt|geboten|auf deutsch|auf englisch|kein|keine|keinen|keiner|keinem|keinerlei|nur|ausschließlich|ausschliesslich|lediglich|achte|beachte|beachten|sorge|sorg|vermeide|vermeiden|bevorzuge|bevorzugen|bevorzugt|verwende|verwenden|verwendet|benutze|benutzen|nutze|nutzen|nimm|behalte|behalten|lass|lasse|lassen|bleib|bleibe|bleiben|bleibt|statt|anstatt|anstelle|ohne|mindestens|höchstens|maximal|minimal|künftig|zukünftig|in zukunft|denk daran|denke daran|denk dran|vergiss|merk|merke|erforderlich|erlaubt|zwingend|unbedingt|keinesfalls|soll|sollen|sollte|sollten|sollst|musst|müsst|müsste|dürft|darfst|wichtig|stets|jede|jeder|jedes|jeden|vorher|zuerst|erst|frag|frage|bitte|halte|halt dich|niemand|nichts|sicherstellen|zu vermeiden|lieber|pflicht|kann nicht
		|en français|en anglais|tel quel|dois|devez|devrait|devraient|faut|ne|n'|aucun|aucune|seulement|uniquement|exclusivement|assure|assurez|veille|veillez|veiller|évite|évitez|éviter|préfère|préférez|préférer|utilise|utilisez|utiliser|garde|gardez|garder|conserve|conservez|conserver|dorénavant|à partir de maintenant|souviens|souvenez|rappelle|rappelez|n'oublie|n'oubliez|sans|au moins|au plus|au maximum|maximum|minimum|obligatoire|obligatoirement|requis|requise|plutôt|au lieu|défense|interdiction|impérativement|impératif|important|laisse|laissez|respecte|respectez|reste|restez|ni|pas
		|en español|en inglés|tal cual|debes|debería|deberías|tiene que|tienes que|tienen que|solo|sólo|solamente|únicamente|evita|evitar|evite|prefiere|prefiero|preferir|preferiblemente|usa|usar|use|utiliza|utilizar|utilice|mantén|mantener|mantenga|conserva|conservar|de ahora en adelante|recuerda|recuerde|recordar|olvides|sin|al menos|como mínimo|como máximo|a lo sumo|máximo|mínimo|obligatorio|obligatoria|prohibida|requerido|requerida|necesario|en lugar|en vez|ningún|ninguna|ninguno|no|tampoco|deja|respeta|importante
		|sempre|não|deve|devem|devi|apenas|somente|evite|sem|mai|soltanto|senza|almeno|nessuno|non|proibido|vietato|usare|pelo menos
		|не|только|обязательно|без|избегай|используй|используйте|сохраняй|минимум|максимум|вместо|запрещается|убедись|помни`)

	wideCues = cueList(`必须|必須|不要|不能|不可|不得|不准|不许|不許|不应|不應|不再|不用|不需|禁止|严禁|嚴禁|切勿|请勿|請勿|勿|别|別|绝不|絕不|绝对|絕對|永远|永遠|始终|始終|总是|總是|一律|只能|只用|只|仅|僅|务必|務必|确保|確保|避免|保持|保留|优先|優先|尽量|盡量|使用|采用|採用
		|从现在|從現在|今后|今後|以后都|以後都|记住|記住|记得|記得|至少|最多|最少|不超过|不超過|必需|需要|应该|應該|应当|應當|要求|除非|而不是|每次|每个|每個|所有|任何|统一|統一|用中文|用英文|提交前|首先|遵守|遵循|规则|規則|限制|不改|不动|不動|注意|先问|先問
		|必ず|絶対|決して|しないで|ないで|いけない|いけません|ならない|なりません|常に|いつも|のみ|だけ|使って|使用して|使わない|避け|保って|維持|これから|覚えて|忘れ|以上|以下|以内|必要|べき|なければ|ないこと|すること|してください|て下さい|ように|変更しない|触らない|代わりに|なしで|厳禁|お願いし|守って|ください
		|반드시|절대|항상|하지 마|하지마|금지|해야|이상|이하|없이|사용하|말고|마세요|만 `)
)

// cues are words and phrases to look for.
type cues struct {
	phrases map[string][]string // those of whole words: what follows the first word, with the space behind it
	wide    []string            // those of scripts that have no spaces, or whose words change at their ends
}

// cueList reads cues that are separated by a bar.
func cueList(text string) cues {
	c := cues{phrases: make(map[string][]string)}
	for _, cue := range strings.Split(text, "|") {
		if cue = strings.TrimSpace(cue); cue == "" {
			continue
		}
		if wide(cue) || unicode.Is(unicode.Hangul, firstRune(cue)) {
			c.wide = append(c.wide, cue)
			continue
		}
		first, rest, more := strings.Cut(cue, " ")
		if more {
			rest += " "
		}
		c.phrases[first] = append(c.phrases[first], rest)
	}
	return c
}

// in reports whether a text has one of the cues. It is as words makes it.
func (c cues) in(text string) bool {
	text = strings.TrimPrefix(text, " ")
	for text != "" {
		word, rest, _ := strings.Cut(text, " ")
		for _, phrase := range c.phrases[word] {
			if strings.HasPrefix(rest, phrase) {
				return true
			}
		}
		text = rest
	}
	return false
}

// wideIn reports whether a text has one of the cues of scripts without spaces.
func (c cues) wideIn(text string) bool {
	return len(c.wide) > 0 && foreign(text) && slices.ContainsFunc(c.wide, func(cue string) bool { return strings.Contains(text, cue) })
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// words is a text in small letters with one space around each word, code spans left out: what cues are sought in.
func words(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(' ')
	gap := true
	for _, r := range masked(s) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(unicode.ToLower(r))
			gap = false
		case (r == '\'' || r == '’') && !gap:
			b.WriteByte('\'')
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return strings.ReplaceAll(b.String(), "' ", " ")
}

// strict reports whether a sentence states a rule in words that leave no doubt.
func strict(s string) bool { return strictCues.in(words(s)) || wideCues.wideIn(s) }

// rules reports whether a sentence states a constraint, a preference or a prohibition, as far as its words tell. A title
// needs plainer words.
func rules(s string, title bool) bool {
	w := words(s)
	if strictCues.in(w) {
		return true
	}
	if asks(s, w) {
		return false
	}
	return looseCues.in(w) || !title && commands(s, w) || strings.Contains(w, " n'") || wideCues.wideIn(s)
}

// commands reports whether a sentence begins with a word by which people say how they want things to be. Words that begin
// tasks, such as fix, add and explain, are not among them.
func commands(s, w string) bool {
	if strings.IndexByte("|\"'{[<", s[0]) >= 0 {
		return false
	}
	for word := range strings.SplitSeq(strings.TrimSpace(w), " ") {
		switch word {
		case "please", "pls", "plz", "just", "also", "and", "but", "then", "so", "kindly", "ok", "note", "ps", "btw":
			continue
		case "all", "any", "both", "each", "one", "be", "answer", "reply", "log", "sign", "squash", "rebase", "place", "put", "name", "document", "handle", "cover", "validate",
			"escape", "sanitise", "sanitize", "pin", "lock", "back", "backup", "consider", "work", "commit", "store", "write", "format", "indent", "mock", "wrap", "return",
			"raise", "run", "call", "sort", "cite", "quote", "round", "separate", "mark", "tag", "label", "prefix", "suffix", "hash", "encrypt", "speak", "talk",
			"cache", "close", "set", "let", "give", "tests", "errors", "first", "docs", "comments", "names", "files", "dates", "we're", "our", "antworte", "réponds", "responde":
			return true
		}
		return strings.HasSuffix(w, " please ") || strings.HasSuffix(w, " bitte ") || strings.Contains(w, " over ") && len(w) < 60 || strings.HasSuffix(w, " first ") || strings.Contains(w, " first then ")
	}
	return false
}

// asks reports whether a sentence is a question for something, as "why does it use two files?" is.
func asks(s, w string) bool {
	if !strings.HasSuffix(s, "?") {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(w), " ")
	switch first {
	case "why", "what", "how", "do", "have", "any", "am", "wait", "has", "were", "which", "where", "who", "is", "are", "does", "did", "was", "warum", "wie", "wo", "pourquoi", "comment", "dónde", "qué", "cómo":
		return true
	}
	return false
}

// titled reports whether a line is the title of a list of rules, such as "Constraints:" or "## Ground rules".
func titled(s string, marked bool) bool {
	w := words(s)
	if !marked && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, "：") && !strings.HasPrefix(s, "**") || len(w) > 80 || strings.Count(w, " ") > 9 {
		return false
	}
	switch strings.TrimSpace(w) {
	case "never", "always", "do", "do not", "don't", "must", "must not", "please", "remember", "style", "forbidden", "allowed", "not allowed", "verboten", "prohibido", "interdit":
		return true
	}
	return titleCues.in(w) || wideTitles.wideIn(s)
}

var (
	titleCues = cueList(`rules|rule|constraints|constraint|requirements|requirement|guidelines|guideline|preferences|preference|conventions|convention|restrictions|restriction|limitations|limits|don'ts|donts|dos
		|must haves|must have|musts|non goals|out of scope|important|notes|note|policies|policy|standards|standard|principles|instructions|boundaries|guardrails|acceptance criteria|criteria|caveats|reminders|reminder
		|regeln|vorgaben|anforderungen|einschränkungen|bedingungen|wichtig|hinweise|richtlinien|règles|contraintes|exigences|consignes|interdits|important|reglas|restricciones|requisitos|normas|importante|правила|требования|ограничения`)
	wideTitles = cueList(`规则|規則|约束|約束|要求|限制|注意|规范|規範|ルール|制約|要件|禁止|원칙|규칙|제약`)
)
