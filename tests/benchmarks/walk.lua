-- wrk -s walk.lua URL -- PATHS START STATUS [BODY]
-- Asks the paths in the file PATHS one after another from number START on, each thread its share.
-- With STATUS above 0 every answer has to have it, and to begin with what is in the file BODY.

local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  requests, position, wrong = {}, tonumber(args[2]) + number, 0
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  local status, expected = tonumber(args[3]), ""
  if args[4] then
    local file = io.open(args[4], "rb")
    expected = file:read("*a")
    file:close()
  end
  if status > 0 then
    function response(got, headers, body)
      if got ~= status or body:sub(1, #expected) ~= expected then wrong = wrong + 1 end
    end
  end
end

function request()
  local asked = requests[position % #requests + 1]
  position = position + 2 -- threads
  return asked
end

function done(summary, latency, all)
  local wrong = 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get("wrong") end
  local e = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"bytes":%d,"errors":%d,"wrong":%d,"p50":%f,"p99":%f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout, wrong,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
