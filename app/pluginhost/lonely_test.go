package pluginhost_test

func lonelyHost(string) {}
