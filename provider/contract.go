package provider

import "ambit/unit"

// Whole is the contract of a request that has no conversation, or none that is understood: nothing may be left out.
func Whole() unit.Contract { return unit.Contract{Complete: true} }

// ContractOf returns the contract of a request whose canonical elements are known. A request that follows an answer which
// the provider holds stands on messages that cannot be left out, so nothing may be.
func ContractOf(p Protocol, req Request, e Elements) unit.Contract {
	c := p.Contract(req)
	c.Complete = c.Complete || e.Previous != ""
	return c
}
