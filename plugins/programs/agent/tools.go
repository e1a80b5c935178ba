package agent

import "github.com/openai/openai-go"

// tools are shown to the endpoint with strict schemas: every argument is listed,
// and no other is allowed. The host checks the calls all the same.
func tools() []openai.ChatCompletionToolParam {
	text := map[string]any{"type": "string"}
	maybe := map[string]any{"type": []string{"string", "null"}}
	return []openai.ChatCompletionToolParam{
		tool("write_file", "Write a text file of the account's sandbox; path is relative.",
			[]string{"path", "data"}, map[string]any{"path": text, "data": text}),
		tool("read_file", "Read a file of the account's sandbox.", []string{"path"}, map[string]any{"path": text}),
		tool("list_files", "List the files of the account's sandbox.", []string{}, map[string]any{}),
		tool("run_program", "Run a JavaScript program: a file's path, or the source itself; the other is null.",
			[]string{"path", "source"}, map[string]any{"path": maybe, "source": maybe}),
		tool("read_library", "Read a view of the account's library of videos.", []string{"view"},
			map[string]any{"view": map[string]any{"type": "string", "enum": []string{"hooks", "outliers", "trends"}}}),
	}
}

func tool(name, description string, required []string, properties map[string]any) openai.ChatCompletionToolParam {
	return openai.ChatCompletionToolParam{Function: openai.FunctionDefinitionParam{
		Name: name, Description: openai.String(description), Strict: openai.Bool(true),
		Parameters: openai.FunctionParameters{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		},
	}}
}
