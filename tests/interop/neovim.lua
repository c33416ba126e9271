-- A real Neovim with the settings of docs/editors.md: findings, their fix, hover, names, tidying.
--   nvim --headless --clean -c "luafile neovim.lua"   (SETTINGS and FOLDER in the environment)
vim.opt.runtimepath:prepend(vim.env.FOLDER)
dofile(vim.env.SETTINGS)

local PATIENCE = 600000 -- milliseconds; only ends what hangs

local function check(is_well, what)
  io.stdout:write((is_well and "ok     " or "FAILED ") .. "neovim: " .. what .. "\n")
  if not is_well then vim.cmd("cquit 1") end
end

local function wait(what, condition)
  check(vim.wait(PATIENCE, condition, 20), what)
end

local ok, fault = pcall(function()
  vim.cmd.edit(vim.env.FOLDER .. "/city.prompty")
  check(vim.bo.filetype == "prompty", "the file's type is known")
  wait("the server starts", function() return #vim.lsp.get_clients({ bufnr = 0 }) == 1 end)
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]
  wait("its finding is shown", function() return #vim.diagnostic.get(0) == 1 end)
  local finding = vim.diagnostic.get(0)[1]
  check(finding.code == "undeclared-variable" and finding.lnum == 6, "at its place")

  vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
  vim.lsp.buf.code_action({ apply = true, filter = function(each) return each.title:find("Change to 'city'", 1, true) end })
  wait("its fix is made", function()
    return vim.api.nvim_buf_get_lines(0, 6, 7, true)[1] == "Tell of {{ city }} and {{ city }}."
  end)
  wait("and the finding goes", function() return #vim.diagnostic.get(0) == 0 end)

  local at = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 6, character = 12 } }
  local hover = client:request_sync("textDocument/hover", at, PATIENCE, 0)
  check(vim.inspect(hover.result.contents):find("city") ~= nil, "hover tells of the input")

  vim.api.nvim_win_set_cursor(0, { 7, 12 })
  vim.lsp.buf.rename("town")
  wait("an input is renamed everywhere", function()
    local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
    return lines[4] == "  town: {kind: string}" and lines[7] == "Tell of {{ town }} and {{ town }}."
  end)
end)
if not ok then check(false, tostring(fault)) end
vim.cmd("qall!")
