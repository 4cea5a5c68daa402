package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set by the build.
var version = "devel"

func newVersion(e *env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if asJSON {
				return e.printJSON(map[string]string{"version": version, "go": runtime.Version(), "platform": platform})
			}
			_, err := fmt.Fprintf(e.out, "ambit %s %s %s\n", version, runtime.Version(), platform)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
