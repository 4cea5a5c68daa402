package view

import (
	"fmt"
	"slices"
)

// order are the layers as they follow each other.
var order = []Layer{Role, Stable, Working, Tail}

// OrderError says which segment does not stand in the order of the layers.
type OrderError struct {
	At    int    // the index of the segment
	Ref   string // its unit's
	Layer Layer  // its own
	After Layer  // the layer of the segment before it, to which it may not return; empty where its own is none
}

func (e *OrderError) Error() string {
	if e.After == "" {
		return fmt.Sprintf("segment %d, %q: %q is no layer", e.At, e.Ref, e.Layer)
	}
	return fmt.Sprintf("segment %d, %q: layer %s stands behind layer %s", e.At, e.Ref, e.Layer, e.After)
}

// Of makes a view of segments, without tools. The error is an *OrderError when they are not in the order of their layers.
// The view has the segments themselves, not copies.
func Of(segments ...Segment) (View, error) {
	v := View{Segments: segments}
	return v, v.Check()
}

// Check says whether the segments stand in the order of their layers. The error is an *OrderError.
func (v View) Check() error {
	newest := 0
	for i := range v.Segments {
		s := &v.Segments[i]
		at := slices.Index(order, s.Layer)
		switch {
		case at < 0:
			return &OrderError{At: i, Ref: s.Unit.Ref, Layer: s.Layer}
		case at < newest:
			return &OrderError{At: i, Ref: s.Unit.Ref, Layer: s.Layer, After: order[newest]}
		}
		newest = at
	}
	return nil
}
