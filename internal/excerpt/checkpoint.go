package excerpt

// Checkpoint is the record of earlier work that stands in place of it. It has the eight sections of docs/format/checkpoint.md,
// in this order.
type Checkpoint struct {
	Objective        string   // what the user asked for, first and last
	Completed        []string // what was done and verified
	CurrentState     string   // where the work stands
	ImportantFiles   []File   // most important first
	FailedAttempts   []string // what was tried and did not work
	Decisions        []string // what was decided and why, and the user's constraints verbatim
	RunningProcesses []string // what was started and still runs
	NextSteps        []string // what is still to do
}

// File is a file of a checkpoint.
type File struct {
	Path   string
	Reason string // why it matters
}

// The names of the sections, in their order.
const (
	sectionObjective = "objective"
	sectionCompleted = "completed"
	sectionState     = "current_state"
	sectionFiles     = "important_files"
	sectionFailed    = "failed_attempts"
	sectionDecisions = "decisions"
	sectionRunning   = "running_processes"
	sectionNext      = "next_steps"
)

// sections are the names of all of them.
var sections = []string{sectionObjective, sectionCompleted, sectionState, sectionFiles, sectionFailed, sectionDecisions, sectionRunning, sectionNext}

// list is the list of a section; nil for one that is none, or of files.
func (c *Checkpoint) list(section string) *[]string {
	switch section {
	case sectionCompleted:
		return &c.Completed
	case sectionFailed:
		return &c.FailedAttempts
	case sectionDecisions:
		return &c.Decisions
	case sectionRunning:
		return &c.RunningProcesses
	case sectionNext:
		return &c.NextSteps
	}
	return nil
}

// text is the text of a section; nil for one that is a list.
func (c *Checkpoint) text(section string) *string {
	switch section {
	case sectionObjective:
		return &c.Objective
	case sectionState:
		return &c.CurrentState
	}
	return nil
}

// texts are all the texts of a checkpoint.
func (c *Checkpoint) texts() []string {
	all := []string{c.Objective, c.CurrentState}
	for _, section := range sections {
		if list := c.list(section); list != nil {
			all = append(all, *list...)
		}
	}
	for _, f := range c.ImportantFiles {
		all = append(all, f.Path, f.Reason)
	}
	return all
}
