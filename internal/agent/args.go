package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// spec describes a tool, to the model and to the decoder of its arguments alike.
type spec struct {
	name, about string
	params      []param
}

// param is one argument.
type param struct {
	name, about string
	kind        kind
	required    bool
	empty       bool // a required text may be empty
	min, max    int  // of a number; max 0 for no bound
}

// kind is the type of an argument, as JSON schema names it.
type kind string

const (
	kindText   kind = "string"
	kindNumber kind = "integer"
	kindFlag   kind = "boolean"
)

// say is the kind in a sentence.
func (k kind) say() string {
	switch k {
	case kindNumber:
		return "a whole number"
	case kindFlag:
		return "true or false"
	}
	return "a string"
}

// schema is the JSON schema of the arguments, always of the same bytes.
func (s spec) schema() []byte {
	var b bytes.Buffer
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range s.params {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"type":%q,"description":%s`, quoted(p.name), p.kind, quoted(p.about))
		if p.kind == kindNumber {
			fmt.Fprintf(&b, `,"minimum":%d`, p.min)
		}
		if p.max > 0 {
			fmt.Fprintf(&b, `,"maximum":%d`, p.max)
		}
		b.WriteByte('}')
		if p.required {
			required = append(required, string(quoted(p.name)))
		}
	}
	fmt.Fprintf(&b, `},"required":[%s],"additionalProperties":false}`, strings.Join(required, ","))
	return b.Bytes()
}

// quoted is a text as JSON.
func quoted(s string) []byte {
	data, _ := json.Marshal(s) // a string cannot fail
	return data
}

// values are the arguments of a call.
type values struct {
	raw     json.RawMessage
	texts   map[string]string
	numbers map[string]int
	flags   map[string]bool
}

// decode reads the arguments strictly: exact names, each once, of the right type, none too many and none too few. An
// optional one may be null.
func (s spec) decode(raw json.RawMessage) (values, error) {
	v := values{raw, make(map[string]string), make(map[string]int), make(map[string]bool)}
	members, err := object(raw)
	if err != nil {
		return v, fmt.Errorf("%s: the arguments %w", s.name, err)
	}
	for _, m := range members {
		i := slices.IndexFunc(s.params, func(p param) bool { return p.name == m.name })
		if i < 0 {
			return v, fmt.Errorf("%s has no argument %q: it has %s", s.name, m.name, s.names())
		}
		if err := v.set(s.params[i], m.value); err != nil {
			return v, fmt.Errorf("%s: the argument %q %w", s.name, m.name, err)
		}
	}
	for _, p := range s.params {
		got, ok := v.texts[p.name] // no number and no flag is required
		if p.required && !ok {
			return v, fmt.Errorf("%s: the argument %q is missing", s.name, p.name)
		}
		if p.required && got == "" && !p.empty {
			return v, fmt.Errorf("%s: the argument %q is empty", s.name, p.name)
		}
	}
	return v, nil
}

// names lists the arguments.
func (s spec) names() string {
	var names []string
	for _, p := range s.params {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// set takes one value.
func (v *values) set(p param, raw json.RawMessage) error {
	if bytes.Equal(raw, []byte("null")) && !p.required {
		return nil
	}
	var err error
	switch p.kind {
	case kindText:
		var s string
		if err = json.Unmarshal(raw, &s); err == nil && !bytes.Equal(raw, []byte("null")) {
			v.texts[p.name] = s
			return nil
		}
	case kindNumber:
		var n int
		if err = json.Unmarshal(raw, &n); err == nil {
			if n < p.min || p.max > 0 && n > p.max {
				return outside(p)
			}
			v.numbers[p.name] = n
			return nil
		}
	case kindFlag:
		var b bool
		if err = json.Unmarshal(raw, &b); err == nil {
			v.flags[p.name] = b
			return nil
		}
	}
	return fmt.Errorf("must be %s", p.kind.say())
}

func outside(p param) error {
	if p.max > 0 {
		return fmt.Errorf("must be a whole number from %d to %d", p.min, p.max)
	}
	return fmt.Errorf("must be a whole number from %d on", p.min)
}

// member is one of an object.
type member struct {
	name  string
	value json.RawMessage
}

// object takes a JSON object apart. Nothing at all is an empty one.
func object(raw json.RawMessage) (members []member, err error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, nil
	case !json.Valid(raw):
		return nil, errors.New("are not valid JSON")
	case raw[0] != '{':
		return nil, errors.New("must be a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)} // in valid JSON the name of a member
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(members, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("name %q twice", m.name)
		}
		members = append(members, m)
	}
	return members, nil
}
