package provider_test

import (
	"fmt"
	"testing"
	"time"

	"ambit/provider"
)

// Failures of all families are told apart by the provider's own words, and by the status where there are none; a limit on
// rates is never a request that is too long.
// covers: R-04 part
func TestFailures(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, x := range map[string]struct {
		status  int
		headers map[string]string
		body    string
		kind    provider.FailureKind
		after   time.Duration
		passes  bool
	}{
		"Anthropic overloaded":       {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Overloaded, 0, true},
		"in a stream":                {200, nil, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", provider.Overloaded, 0, true},
		"Anthropic rate":             {429, map[string]string{"retry-after": "17"}, `{"type":"error","error":{"type":"rate_limit_error","message":"200000 tokens per minute"}}`, provider.RateLimited, 17 * time.Second, true},
		"a rate that names tokens":   {429, nil, `{"error":{"message":"Request too large for gpt-5: Limit 30000, Requested 40000","type":"tokens","code":"rate_limit_exceeded"}}`, provider.RateLimited, 0, true},
		"Anthropic too long":         {400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, provider.TooLong, 0, false},
		"Anthropic credential":       {401, nil, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, provider.Denied, 0, false},
		"Anthropic balance":          {400, nil, `{"type":"error","error":{"type":"billing_error","message":"credit balance"}}`, provider.Unpaid, 0, false},
		"OpenAI quota":               {429, nil, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, provider.Unpaid, 0, false},
		"OpenAI too long":            {400, nil, `{"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}`, provider.TooLong, 0, false},
		"OpenAI model":               {404, nil, `{"error":{"message":"no such model","type":"invalid_request_error","code":"model_not_found"}}`, provider.Invalid, 0, false},
		"OpenAI failed in a stream":  {200, nil, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"oops\"}}}\n\n", provider.ServerError, 0, true},
		"OpenAI rate in a stream":    {200, nil, "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"wait\"}}}\n\n", provider.RateLimited, 0, true},
		"Gemini minute":              {429, nil, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"33.5s"}]}}]`, provider.RateLimited, 33500 * time.Millisecond, true},
		"Gemini day":                 {429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, provider.Unpaid, 0, false},
		"Gemini unavailable":         {503, nil, `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`, provider.Overloaded, 0, true},
		"Gemini argument":            {400, nil, `{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}`, provider.Invalid, 0, false},
		"OpenAI, no answer before":   {400, nil, `{"error":{"message":"Previous response with id 'r' not found.","type":"invalid_request_error","code":"previous_response_not_found"}}`, provider.Forgot, 0, false},
		"over a WebSocket":           {200, nil, "data: {\"type\":\"error\",\"status\":503,\"error\":{\"type\":\"x\",\"message\":\"later\"}}\n\n", provider.Overloaded, 0, true},
		"with a delay":               {200, map[string]string{"retry-after": "20"}, "data: {\"type\":\"error\",\"status_code\":429,\"error\":{\"code\":\"rate_limit_exceeded\"},\"headers\":{\"Retry-After\":\"7\",\"x\":1}}\n\n", provider.RateLimited, 7 * time.Second, true},
		"with a number":              {200, nil, "data: {\"type\":\"error\",\"status\":429,\"error\":{\"code\":\"x\"},\"headers\":{\"retry-after-ms\":1500}}\n\n", provider.RateLimited, 1500 * time.Millisecond, true},
		"with an absurd status":      {200, nil, "data: {\"type\":\"error\",\"status\":200,\"error\":{\"code\":\"x\"},\"headers\":[]}\n\n", provider.Unknown, 0, false},
		"an old connection":          {200, nil, "data: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":\"websocket_connection_limit_reached\"},\"status\":400}\n\n", provider.Unreachable, 0, true},
		"a gateway's page":           {502, nil, "<html>Bad Gateway</html>", provider.ServerError, 0, true},
		"no body":                    {500, nil, "", provider.ServerError, 0, true},
		"a redirect":                 {307, nil, "", provider.Garbled, 0, false},
		"milliseconds before others": {429, map[string]string{"retry-after-ms": "1500", "retry-after": "20"}, "", provider.RateLimited, 1500 * time.Millisecond, true},
		"a date":                     {503, map[string]string{"retry-after": "Mon, 30 Nov 2026 12:00:05 GMT"}, "", provider.Overloaded, 5 * time.Second, true},
		"a date that is over":        {503, map[string]string{"retry-after": "Mon, 30 Nov 2026 11:00:05 GMT"}, "", provider.Overloaded, 0, true},
		"a word":                     {400, nil, `{"detail":"bad request"}`, provider.Invalid, 0, false},
	} {
		f, failed := provider.ReadFailure(x.status, x.headers, []byte(x.body), at)
		if !failed || f.Kind != x.kind || f.After != x.after || f.Passes() != x.passes || f.Error() == "" {
			t.Errorf("%s: %+v, passes %v: %s", name, f, f.Passes(), f.Error())
		}
	}
	for name, body := range map[string]string{
		"a message":          `{"type":"message","content":[{"type":"text","text":"error"}]}`,
		"a stream":           "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
		"an error that is 0": `{"id":"resp_1","object":"response","error":null,"output":[]}`,
	} {
		if f, failed := provider.ReadFailure(200, nil, []byte(body), at); failed {
			t.Errorf("%s is %+v", name, f)
		}
	}
}

// A WebSocket that is closed before an answer ends says why by a code, and a reason for people.
// covers: R-04 part
func TestCloses(t *testing.T) {
	for kind, codes := range map[provider.FailureKind][]int{
		provider.Unreachable: {1000, 1001, 1005, 1006, 1012, 1014}, provider.ServerError: {1011}, provider.Overloaded: {1013},
		provider.Denied: {1008}, provider.Invalid: {1002, 1003, 1007, 1009, 1010}, provider.Unknown: {1004, 1015, 3000, 4000, 4999, 0},
	} {
		for _, code := range codes {
			f := provider.ReadClose(code, "so it is")
			if f.Kind != kind || f.Code != fmt.Sprintf("close %d", code) || f.Message != "so it is" {
				t.Errorf("%d is %+v", code, f)
			}
			if f = provider.ReadClose(code, ""); f.Message == "" {
				t.Errorf("%d without a reason is %+v", code, f)
			}
		}
	}
}

// FuzzReadFailure finds no answer that panics.
func FuzzReadFailure(f *testing.F) {
	f.Add(429, `{"error":{"code":429,"details":[{"retryDelay":"1s"}]}}`, "5")
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		got, _ := provider.ReadFailure(status, map[string]string{"retry-after": after}, []byte(body), time.Time{})
		if got.After < 0 {
			t.Errorf("a delay of %s", got.After)
		}
	})
}
