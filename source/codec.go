package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Codec writes values as JSON and reads them back. Both functions are pure, and what Decode makes of what Encode wrote
// is encoded the same: values are compared by that.
type Codec[T any] struct {
	Encode func(T) ([]byte, error)
	Decode func([]byte) (T, error)
}

// JSON is the codec of encoding/json. A null is an error where T has none.
func JSON[T any]() Codec[T] {
	return Codec[T]{
		Encode: func(v T) ([]byte, error) { return json.Marshal(v) },
		Decode: func(data []byte) (v T, err error) {
			if err := json.Unmarshal(data, &v); err != nil || string(bytes.TrimSpace(data)) != "null" {
				return v, err
			}
			if kept, err := json.Marshal(v); err != nil || string(kept) != "null" {
				return v, errors.New("null is no value of the source")
			}
			return v, nil
		},
	}
}

// encode writes a value without spaces.
func (c Codec[T]) encode(v T) (json.RawMessage, error) {
	data, err := c.Encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// again decodes a value and encodes it, so that how it was spelled makes no difference.
func (c Codec[T]) again(value json.RawMessage) (out json.RawMessage, err error) {
	err = guard(func() error {
		v, err := c.Decode(value)
		if err == nil {
			out, err = c.encode(v)
		}
		return err
	})
	return out, err
}

// settle encodes a value as it will be encoded ever after. The first encoding may differ from that: encoding/json spells
// what it replaces in invalid UTF-8 otherwise than what it replaced.
func (c Codec[T]) settle(v T) (json.RawMessage, error) {
	first, err := c.encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	second, err := c.again(first)
	if err != nil {
		return nil, fmt.Errorf("decode what was encoded: %w", err)
	}
	third, err := c.again(second)
	if err == nil && !bytes.Equal(second, third) {
		err = errors.New("the codec does not give back what it was given")
	}
	return second, err
}
