-- `with_fake` starts the plugin with a fake sidecar, without anything of the spec before.
---@return table fake what fake_sidecar.lua installs, with its `connect`
return function()
  package.loaded.fake_sidecar = nil
  local fake = require("fake_sidecar")
  require("cellgate").start()
  local installed = fake.install()
  installed.connect = fake.connect
  return installed
end
