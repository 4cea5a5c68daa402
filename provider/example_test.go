package provider_test

import (
	"fmt"

	"ambit/provider"
)

func ExampleEvents() {
	for e := range provider.Events([]byte("event: ping\ndata: {}\n\ndata: [DONE]\n\ndata: cut")) {
		fmt.Printf("%q %s\n", e.Name, e.Data)
	}
	// Output:
	// "ping" {}
	// "" [DONE]
}
