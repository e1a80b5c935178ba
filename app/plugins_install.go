package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"
	"golang.org/x/mod/semver"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/archive"
	"github.com/scrollery/scrollery/plugins/recipe"
	"github.com/scrollery/scrollery/plugins/stage"
)

// PackagePlugin writes the archive of a plugin, signed if order says how, and prints what is in it.
func PackagePlugin(ctx context.Context, order archive.Order, out io.Writer) error {
	index, path, err := archive.Write(ctx, order)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s %s for %s/%s, stage protocol %d\n", path, index.ID, index.Version, index.OS, index.Arch, stage.ProtocolVersion)
	for _, file := range index.Files {
		fmt.Fprintf(out, "  %s  %s\n", file.SHA256, file.Name)
	}
	if order.Sign != nil {
		fmt.Fprintln(out, path+archive.SignatureEnding)
	}
	return nil
}

// InstallOrder says which plugin to install.
type InstallOrder struct {
	// From is the path of an archive, or its https address.
	From string
	// Key is a public key of minisign, or the path of one. The archive must be signed by it;
	// empty takes an archive as it is.
	Key string
	// Agree asks the operator. Without a yes, nothing is installed.
	Agree func(question string) (bool, error)
	// Fetch reads archives; the zero value is ready.
	Fetch archive.Fetcher
}

// errNotAgreed says that the operator said no.
var errNotAgreed = errors.New("nothing was installed")

// InstallPlugin installs the plugin of an archive into the plugin folder, or replaces the one of
// its id there. It prints what the plugin may do and asks before it starts anything of it.
func InstallPlugin(ctx context.Context, cfg Config, order InstallOrder, out io.Writer) error {
	key, err := keyOf(order.Key)
	if err != nil {
		return err
	}
	folder, err := archive.Enter(cfg.Plugins.Dir)
	if err != nil {
		return err
	}
	defer folder.Leave()
	plugin, signed, err := folder.Unpack(ctx, order.Fetch, order.From, key)
	if err != nil {
		return err
	}
	if comesAlong(plugin.ID) {
		return fmt.Errorf("the id %q is that of a stage that comes with the server", plugin.ID)
	}
	place, err := folder.Find(plugin.ID)
	if err != nil {
		return err
	}
	old := place.Spec(ctx)
	if key != nil {
		signed = fmt.Sprintf("signed by the key %016X: %s", key.ID(), signed)
	} else {
		signed = "not checked for a signature: there is no --key"
	}
	show(plugin, place, old, signed, out)
	if agreed, err := order.Agree(question(plugin, place, old)); err != nil || !agreed {
		return errors.Join(err, errNotAgreed)
	}
	if err := admit(ctx, plugin, out); err != nil {
		return err
	}
	if err := folder.Install(plugin, place); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s %s, sha256 %s\n%s\n", place.Manifest, plugin.ID, plugin.Version, plugin.Files[1].SHA256, afterwards(cfg, plugin.Described))
	return nil
}

func keyOf(text string) (*minisign.PublicKey, error) {
	if text == "" {
		return nil, nil
	}
	key, err := archive.PublicKey(text)
	return &key, err
}

// comesAlong reports whether a stage of the id is compiled in.
func comesAlong(id string) bool {
	return id == recipe.Server().ID || slices.ContainsFunc(Stages(), func(s stage.Spec) bool { return s.ID == id })
}

// admit starts the plugin, which must be what its archive says, and checks it.
func admit(ctx context.Context, plugin archive.Plugin, out io.Writer) error {
	spec, err := plugin.Describe(ctx)
	if err != nil {
		return err
	}
	if err := plugin.As(spec); err != nil {
		return err
	}
	return CheckPlugin(ctx, plugin.Path, out)
}

// show prints what the plugin may do, and marks what the installed one may not.
func show(plugin archive.Plugin, place archive.Place, old *stage.Spec, signed string, out io.Writer) {
	fmt.Fprintf(out, "%s %s (%s): %s\n  %s\n", plugin.ID, plugin.Version, plugin.Kind, plugin.Summary, signed)
	before := []string{}
	if old != nil {
		before = archive.Describe(*old).Wants(place.Script())
	}
	for _, line := range plugin.Wants(plugin.Script) {
		if old != nil && !slices.Contains(before, line) {
			line += "   (new, or changed)"
		}
		fmt.Fprintln(out, "  "+line)
	}
	manifest, whose := plugin.Manifest, "its manifest"
	if place.Replaces {
		manifest, whose = place.Old, "the manifest, which stays as it is,"
	}
	for _, name := range plugin.Secrets {
		if !slices.Contains(manifest.Secrets, name) {
			fmt.Fprintf(out, "  %s does not grant the secret %s\n", whose, name)
		}
	}
	for _, s := range plugin.Settings {
		if value := manifest.Settings[s.Name]; value != "" {
			fmt.Fprintf(out, "  %s sets %s: %s\n", whose, s.Name, host.Printable(value))
		}
	}
	if manifest.Enabled != nil && !*manifest.Enabled {
		fmt.Fprintf(out, "  %s turns the plugin off\n", whose)
	}
}

// question asks for what is about to happen.
func question(plugin archive.Plugin, place archive.Place, old *stage.Spec) string {
	at := filepath.Dir(place.Manifest)
	switch {
	case !place.Replaces:
		return fmt.Sprintf("Install it into %s?", at)
	case old == nil:
		return fmt.Sprintf("Replace the plugin in %s, which does not say its version?", at)
	}
	switch order, known := compareVersions(plugin.Version, old.Version); {
	case !known:
		return fmt.Sprintf("Replace %s %s in %s by %s? Which of them is newer cannot be told.", plugin.ID, old.Version, at, plugin.Version)
	case order < 0:
		return fmt.Sprintf("Replace %s %s in %s by the OLDER version %s?", plugin.ID, old.Version, at, plugin.Version)
	case order == 0 && place.Old.SHA256 == plugin.Files[1].SHA256:
		return fmt.Sprintf("Install the same %s %s again into %s?", plugin.ID, old.Version, at)
	case order == 0:
		return fmt.Sprintf("Replace %s %s in %s by another file of the same version?", plugin.ID, old.Version, at)
	}
	return fmt.Sprintf("Replace %s %s in %s by %s?", plugin.ID, old.Version, at, plugin.Version)
}

// compareVersions compares two versions as Semantic Versioning does.
func compareVersions(a, b string) (order int, known bool) {
	if a == b {
		return 0, true
	}
	a, b = "v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")
	return semver.Compare(a, b), semver.IsValid(a) && semver.IsValid(b)
}

// afterwards says what is left to do.
func afterwards(cfg Config, plugin archive.Described) string {
	next := "A server that runs takes it at `kill -HUP`, or at \"Read settings again\" of the operator's page; until then it goes on with what it had."
	if plugin.Kind == string(stage.BriefKind) {
		if cfg.Briefs.Stage != plugin.ID {
			next += fmt.Sprintf("\nThen set briefs.stage to %s in the configuration file.", plugin.ID)
		}
	} else if len(namedBy(cfg, plugin.ID)) == 0 {
		next += fmt.Sprintf("\nNo template names it: add %s to the stages of one in the configuration file.", plugin.ID)
	}
	for _, name := range plugin.Secrets {
		if cfg.Plugins.Secrets[plugin.ID][name] == "" {
			next += fmt.Sprintf("\nThe secret %s is not set: set plugins.secrets.%s.%s in the configuration file.", name, plugin.ID, name)
		}
	}
	return next
}

// namedBy are the templates that name a stage, sorted.
func namedBy(cfg Config, id string) (names []string) {
	for _, t := range append(templates(cfg), briefTemplate(cfg)) {
		for _, stages := range t.Stages {
			if slices.Contains(stages, id) {
				names = append(names, t.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// mentions are the parts of the configuration without which a plugin cannot be removed.
func mentions(cfg Config, id string) (parts []string) {
	for _, name := range namedBy(cfg, id) {
		parts = append(parts, "template "+name)
	}
	if len(cfg.Plugins.Settings[id]) > 0 {
		parts = append(parts, "plugins.settings")
	}
	if len(cfg.Plugins.Secrets[id]) > 0 {
		parts = append(parts, "plugins.secrets")
	}
	return parts
}

// RemovePlugin removes a plugin from the plugin folder, if agree says yes.
func RemovePlugin(cfg Config, id string, agree func(question string) (bool, error), out io.Writer) error {
	folder, err := archive.Enter(cfg.Plugins.Dir)
	if err != nil {
		return err
	}
	defer folder.Leave()
	place, err := folder.Find(id)
	switch {
	case err != nil:
		return err
	case comesAlong(id):
		return fmt.Errorf("%q comes with the server and cannot be removed; take it out of the templates", id)
	case !place.Replaces:
		return fmt.Errorf("there is no plugin %.40q in %s", id, cfg.Plugins.Dir)
	}
	if names := mentions(cfg, id); len(names) > 0 {
		return fmt.Errorf("the configuration names %s in %s: take it out first, or the server does not start", id, strings.Join(names, ", "))
	}
	if agreed, err := agree(fmt.Sprintf("Delete the plugin %s, with the settings of %s?", id, place.Manifest)); err != nil || !agreed {
		return errors.Join(err, errors.New("nothing was removed"))
	}
	if err := folder.Remove(place); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is removed. A server that runs forgets it at `kill -HUP`; until then its calls fail.\n", id)
	return nil
}
