package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// appsExtension is the extension of the protocol by which hosts show pages (MCP Apps).
	appsExtension = "io.modelcontextprotocol/ui"
	appScheme     = "ui://"
	appMIME       = "text/html;profile=mcp-app"
)

// App is a page that a host shows for the results of a tool: one document that asks for
// nothing from anywhere.
type App struct {
	// Tool is the operation whose results it shows.
	Tool string
	// Name is the end of its address.
	Name, Title string
	// Page returns its HTML; an app without one is not offered.
	Page func() string
}

// Apps are the pages that there can be, without their HTML.
func Apps() []App {
	return []App{
		{Tool: "getOutliers", Name: "outliers", Title: "Outliers as a plot"},
		{Tool: "getScroll", Name: "coverage", Title: "What each source of a scroll brought"},
	}
}

func (a App) uri() string { return appScheme + "scrollery/" + a.Name }

// link names the page of each tool that has one.
func link(tools map[string]*tool, apps []App) {
	for _, app := range apps {
		if t := tools[app.Tool]; t != nil && app.Page != nil {
			t.app = &app
			t.known.Meta = mcp.Meta{"ui": map[string]any{"resourceUri": app.uri()}}
		}
	}
}

// addApps offers the pages of the tools that a caller may use.
func addApps(server *mcp.Server, offered []*tool) {
	// No domain is named: a host lets the page reach none.
	meta := mcp.Meta{"ui": map[string]any{"csp": map[string]any{"connectDomains": []string{}, "resourceDomains": []string{}}, "prefersBorder": true}}
	for _, t := range offered {
		if t.app == nil {
			continue
		}
		server.AddResource(&mcp.Resource{URI: t.app.uri(), Name: t.app.Name, Title: t.app.Title, MIMEType: appMIME, Meta: meta},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				result := contents(t.app.uri(), appMIME, t.app.Page())
				result.Contents[0].Meta = meta
				return result, nil
			})
	}
}

// isApp reports whether an address is that of a page, which is the same for everyone.
func isApp(uri string) bool { return strings.HasPrefix(uri, appScheme) }
