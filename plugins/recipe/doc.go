// Package recipe is the source of every provider that has an address.
//
// A recipe is one YAML file. It says how a provider is asked for a handle, a term, a sound or an
// id, where the secret goes, how answers page, what a request costs, what errors mean, and which
// member of a record is which field. The last part is the column map of imports, read by the same
// code.
//
//	recipe ── [Parse] ── [Recipe.Spec], for the host: hosts, secret, budget, prices
//	   └──── with each call ── process of [Server], in its box ── requests ── records
//
// The host knows a recipe by its spec alone, and every recipe is a source of its own name. One
// compiled stage serves all of them: it gets the text of the recipe with the call, so that a new
// recipe needs neither a build nor a restart.
//
// Money is counted before it is spent. A request asks the ledger for all that it may cost, and gives
// back what a page of fewer records, or a free refusal, did not cost. So the budget of a day bounds
// what all accounts and replicas spend together, and a lost answer counts as paid.
//
// A recipe is data. Its addresses are https, their hosts have no placeholders, and what fills a
// placeholder is escaped: neither a handle nor an answer can lead elsewhere. Redirects are refused,
// and so is the next page of another host.
package recipe
