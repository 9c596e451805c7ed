// Generated from @earendil-works/pi-ai 1.5.2 (MIT), whose data come from models.dev (MIT): see NOTICE.
// Not to be edited: `node scripts/window-table.ts FOLDER` writes it; corrections are in scripts/windows/corrections.ts.

/**
 * Windows in tokens. A line with `@` names hosts (a `*` is any part of one), `@ *` all others; the lines below it are
 * models by listed name, with `input` where the figure limits the prompt alone.
 */
export const windowFigures: string = `
@ *-aiplatform.googleapis.com aiplatform.*.rep.googleapis.com aiplatform.googleapis.com
gemini-2-5-flash 1048576 input
gemini-2-5-flash-lite 1048576 input
gemini-2-5-pro 1048576 input
gemini-3-1-flash-lite 1048576 input
gemini-3-1-pro-preview 1048576 input
gemini-3-1-pro-preview-customtools 1048576 input
gemini-3-5-flash 1048576 input
gemini-3-5-flash-lite 1048576 input
gemini-3-6-flash 1048576 input
gemini-3-7-flash 1048576 input
gemini-3-8-flash 1048576 input
gemini-3-flash-preview 1048576 input
gemini-4-argon 1048576 input
@ *.api.openai.com api.openai.com
chat-latest 272000 input
gpt-4 8192
gpt-4-1 1047576
gpt-4-1-mini 1047576
gpt-4-1-nano 1047576
gpt-4-turbo 128000
gpt-4o 128000
gpt-4o-2024-05-13 128000
gpt-4o-2024-08-06 128000
gpt-4o-2024-11-20 128000
gpt-4o-mini 128000
gpt-5 272000 input
gpt-5-1 272000 input
gpt-5-2 272000 input
gpt-5-2-pro 272000 input
gpt-5-3-codex 272000 input
gpt-5-3-codex-spark 128000
gpt-5-4 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-pro 922000 input
gpt-5-5 922000 input
gpt-5-5-pro 922000 input
gpt-5-6-cyber 272000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-5-chat-latest 128000
gpt-5-mini 272000 input
gpt-5-nano 272000 input
gpt-5-pro 272000 input
gpt-6-1-sol 922000 input
gpt-6-1-terra 922000 input
gpt-6-astra 922000 input
gpt-6-luna 922000 input
gpt-6-sol 922000 input
gpt-daybreak-blue-latest 922000 input
gpt-daybreak-red-latest 272000 input
o1 200000
o1-pro 200000
o3 200000
o3-mini 200000
o3-pro 200000
o4-mini 200000
@ *.api.x.ai api.x.ai
grok-4-3 1000000 input
grok-4-5 500000 input
grok-4-6 500000 input
grok-4-7 500000 input
@ *.cognitiveservices.azure.com *.openai.azure.com *.services.ai.azure.com
chat-latest 272000 input
deepseek-v4-pro 1000000
gpt-4 8192
gpt-4-1 1047576
gpt-4-1-mini 1047576
gpt-4-1-nano 1047576
gpt-4-turbo 128000
gpt-4o 128000
gpt-4o-2024-05-13 128000
gpt-4o-2024-08-06 128000
gpt-4o-2024-11-20 128000
gpt-4o-mini 128000
gpt-5 272000 input
gpt-5-1 272000 input
gpt-5-2 272000 input
gpt-5-2-pro 272000 input
gpt-5-3-codex 272000 input
gpt-5-3-codex-spark 128000
gpt-5-4 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-pro 922000 input
gpt-5-5 922000 input
gpt-5-5-pro 922000 input
gpt-5-6-cyber 272000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-5-chat-latest 128000
gpt-5-mini 272000 input
gpt-5-nano 272000 input
gpt-5-pro 272000 input
gpt-6-1-sol 922000 input
gpt-6-1-terra 922000 input
gpt-6-astra 922000 input
gpt-6-luna 922000 input
gpt-6-sol 922000 input
gpt-daybreak-blue-latest 922000 input
gpt-daybreak-red-latest 272000 input
o1 200000
o1-pro 200000
o3 200000
o3-mini 200000
o3-pro 200000
o4-mini 200000
@ *.dashscope.aliyuncs.com *.maas.aliyuncs.com dashscope-*.aliyuncs.com dashscope.aliyuncs.com
deepseek-v3-2 131072
deepseek-v4-1-flash 1000000
deepseek-v4-1-flash-1017 1000000
deepseek-v4-flash 1000000
deepseek-v4-flash-0731 1000000
deepseek-v4-pro 1000000
deepseek-v4-pro-0813 1000000
glm-5 202752
glm-5-1 202752
glm-5-2 1000000
glm-5-3 1000000
kimi-k2-5 262144
kimi-k2-6 262144
kimi-k2-7-code 262144
minimax-m2-5 196608
qwen3-6-flash 983616 input
qwen3-6-plus 983616 input
qwen3-7-max 983616 input
qwen3-7-plus 983616 input
qwen3-8-flash 983616 input
qwen3-8-max 983616 input
@ *.githubcopilot.com
claude-fable-5 872000 input
claude-fable-5-1 872000 input
claude-haiku-4-5 136000 input
claude-haiku-5-5 872000 input
claude-opus-4-8 936000 input
claude-opus-5 936000 input
claude-opus-5-5 872000 input
claude-sonnet-4-6 968000 input
claude-sonnet-5 872000 input
claude-sonnet-5-5 872000 input
gemini-3-8-flash 936000 input
gemini-4-argon 983040 input
gpt-5-3-codex 272000 input
gpt-5-4-nano 272000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-6-1-sol 922000 input
gpt-6-1-terra 922000 input
gpt-6-astra 872000 input
gpt-6-luna 872000 input
gpt-6-sol 872000 input
grok-4-5 372000 input
grok-4-6 372000 input
grok-4-7 372000 input
kimi-k3 917504 input
mai-code-1-1-flash 128000 input
@ ai-gateway.vercel.sh
ampersand-v0-1 1000000
apex 262144
arrow-2 131072
arrow-2-telos 131072
beam 1048576
beam-free 1048576
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-1-batch 1000000
claude-fable-5-2 1000000
claude-fable-5-2-batch 1000000
claude-fable-5-2-fast 1000000
claude-fable-5-batch 1000000
claude-haiku-4-5 200000
claude-haiku-4-5-batch 200000
claude-haiku-5-5 1000000
claude-haiku-5-5-batch 1000000
claude-opus-4-5 200000
claude-opus-4-5-batch 200000
claude-opus-4-6 1000000
claude-opus-4-6-batch 1000000
claude-opus-4-7 1000000
claude-opus-4-7-batch 1000000
claude-opus-4-8 1000000
claude-opus-4-8-batch 1000000
claude-opus-4-8-fast 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-opus-5-5-batch 1000000
claude-opus-5-5-fast 1000000
claude-opus-5-batch 1000000
claude-opus-5-fast 1000000
claude-sonnet-4-5 1000000
claude-sonnet-4-5-batch 1000000
claude-sonnet-4-6 1000000
claude-sonnet-4-6-batch 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
claude-sonnet-5-5-batch 1000000
claude-sonnet-5-batch 1000000
codestral 128000
command-a 256000
deepseek-r1 128000
deepseek-v3-1 163840
deepseek-v3-2 128000
deepseek-v3-2-thinking 128000
deepseek-v4-1-flash 1048576
deepseek-v4-1-flash-1017 1048576
deepseek-v4-1-flash-1017-fast 1048576
deepseek-v4-1-flash-1017-ultrafast 1048576
deepseek-v4-1-flash-fast 1048576
deepseek-v4-flash 1000000
deepseek-v4-flash-0731 1000000
deepseek-v4-flash-vision-exp 1048576
deepseek-v4-pro 1048600
deepseek-v4-pro-0813 1000000
ember-1 1048576
fugu-max 1000000
fugu-ultra 1000000
fugu-ultra-v2 1000000
gemini-2-5-flash 1000000 input
gemini-2-5-flash-batch 1000000 input
gemini-2-5-flash-lite 1048576 input
gemini-2-5-flash-lite-batch 1048576 input
gemini-2-5-pro 1048576 input
gemini-2-5-pro-batch 1048576 input
gemini-3-1-flash-lite 1000000 input
gemini-3-1-flash-lite-batch 1000000 input
gemini-3-1-pro-preview 1000000 input
gemini-3-1-pro-preview-batch 1000000 input
gemini-3-5-flash 1000000 input
gemini-3-5-flash-lite 1000000 input
gemini-3-5-flash-lite-batch 1000000 input
gemini-3-6-flash 1000000 input
gemini-3-6-flash-batch 1000000 input
gemini-3-7-flash 1000000 input
gemini-3-8-flash 1000000 input
gemini-3-flash 1000000 input
gemini-3-flash-batch 1000000 input
gemini-4-argon 1000000 input
gemma-4-26b-a4b-it 262144
gemma-4-31b-it 262144
glm-4-5 128000
glm-4-5-air 128000
glm-4-5v 66000
glm-4-6 200000
glm-4-7 200000
glm-4-7-flash 200000
glm-4-7-flashx 200000
glm-5 202800
glm-5-1 202800
glm-5-2 1000000
glm-5-2-fast 1000000
glm-5-3 1000000
glm-5-3-fast 1048576
glm-5-3-flash 1000000
glm-5-3-flashx 1000000
glm-5-3-flashx-legal 1000000
glm-5-turbo 202800
glm-5v-turbo 200000
glyph-cluster 256000
gpt-4-1 1047576
gpt-4-1-batch 1047576
gpt-4-1-fast 1047576
gpt-4-1-mini 1047576
gpt-4-1-mini-batch 1047576
gpt-4-1-mini-fast 1047576
gpt-4-1-nano 1047576
gpt-4o 128000
gpt-4o-batch 128000
gpt-4o-fast 128000
gpt-4o-mini 128000
gpt-4o-mini-batch 128000
gpt-4o-mini-fast 128000
gpt-5 272000 input
gpt-5-1-codex 272000 input
gpt-5-1-codex-max 272000 input
gpt-5-1-codex-mini 272000 input
gpt-5-1-thinking 272000 input
gpt-5-1-thinking-fast 272000 input
gpt-5-2 272000 input
gpt-5-2-batch 272000 input
gpt-5-2-codex 272000 input
gpt-5-2-fast 272000 input
gpt-5-2-pro 272000 input
gpt-5-3-codex 272000 input
gpt-5-3-codex-fast 272000 input
gpt-5-4 922000 input
gpt-5-4-batch 922000 input
gpt-5-4-fast 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-mini-batch 272000 input
gpt-5-4-mini-fast 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-nano-batch 272000 input
gpt-5-4-pro 922000 input
gpt-5-5 872000 input
gpt-5-5-batch 872000 input
gpt-5-5-fast 872000 input
gpt-5-5-pro 872000 input
gpt-5-5-pro-batch 872000 input
gpt-5-6-luna 922000 input
gpt-5-6-luna-batch 922000 input
gpt-5-6-luna-fast 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-sol-batch 922000 input
gpt-5-6-sol-fast 922000 input
gpt-5-6-terra 922000 input
gpt-5-6-terra-batch 922000 input
gpt-5-6-terra-fast 922000 input
gpt-5-batch 272000 input
gpt-5-codex 272000 input
gpt-5-fast 272000 input
gpt-5-mini 272000 input
gpt-5-mini-batch 272000 input
gpt-5-mini-fast 272000 input
gpt-5-nano 272000 input
gpt-5-nano-batch 272000 input
gpt-5-pro 272000 input
gpt-5-pro-batch 272000 input
gpt-6-1-sol 922000 input
gpt-6-1-sol-batch 922000 input
gpt-6-1-sol-fast 922000 input
gpt-6-1-terra 922000 input
gpt-6-1-terra-fast 922000 input
gpt-6-astra 922000 input
gpt-6-astra-batch 922000 input
gpt-6-astra-fast 922000 input
gpt-6-luna 922000 input
gpt-6-luna-batch 922000 input
gpt-6-luna-fast 922000 input
gpt-6-sol 922000 input
gpt-6-sol-batch 922000 input
gpt-6-sol-fast 922000 input
gpt-oss-120b 131072
gpt-oss-20b 131072
gpt-oss-safeguard-120b 128000
gpt-oss-safeguard-20b 128000
grok-4-20-multi-agent 2000000
grok-4-20-multi-agent-batch 2000000
grok-4-20-multi-agent-beta 2000000
grok-4-20-non-reasoning 2000000
grok-4-20-non-reasoning-batch 2000000
grok-4-20-non-reasoning-beta 2000000
grok-4-20-reasoning 2000000
grok-4-20-reasoning-batch 2000000
grok-4-20-reasoning-beta 2000000
grok-4-3 1000000
grok-4-3-batch 1000000
grok-4-5 500000
grok-4-6 500000
grok-4-7 500000
grok-build-0-1 256000
grok-voice-3-0 4096
hy3 262144
hy4 1024000
hy4-preview 1024000
inkling 256000
inkling-small 1000000
interfaze-beta 1000000
kimi-k2 131072
kimi-k2-5 256000
kimi-k2-6 262000
kimi-k2-7-code 256000
kimi-k2-7-code-highspeed 262144
kimi-k3 1000000
kimi-k3-1-pro 1000000
kimi-k3-1-pro-highspeed 1048576
kimi-k3-fast 1000000
laguna-s-2-1 1000000
lfm2-5-24b-a2b 128000
ling-3-0-flash 256000
ling-3-0-flash-fin 256000
ling-3-0-flash-sante 256000
ling-3-0-flash-vl 256000
ling-3-1-flash 262144
ling-3-1-flash-1019 1000000
llama-3-1-70b 128000
llama-3-1-8b 128000
llama-3-3-70b 128000
llama-4-maverick 128000
llama-4-scout 128000
longcat-2-5 1048576
mercury-2 128000
mercury-2-5 260000
mercury-3 1000000
mercury-coder-small 32000
mimo-v2-6-flash 1048576
mimo-v2-6-pro 1048576
mimo-v2-6-pro-ultraspeed 1048576
minimax-m2 205000
minimax-m2-1 204800
minimax-m2-1-lightning 204800
minimax-m2-5 204800
minimax-m2-5-highspeed 204800
minimax-m2-7 204800
minimax-m2-7-highspeed 204800
minimax-m3 512000
minimax-m3-1-flash 1048576
ministral-14b 262144
ministral-3b 131072
ministral-8b 262144
mistral-large-3 262144
mistral-large-4 1048576
mistral-medium-3-5 262144
mistral-nemo 131072
mistral-small 262144
muse-ember 1048576
muse-glimmer-30b 131072
muse-spark-1-1 1048576
muse-spark-1-2 1048576
muse-spark-1-2-contributor 1048576
muse-spark-1-3 1048576
muse-spark-1-3-contributor 1048576
muse-spark-open 1048576
muse-wonder-1-0 1048576
namazu 256000
nemotron-3-5-lightning 262144
nemotron-3-5-lightning-free 1000000
nemotron-3-5-super-vl 1048576
nemotron-3-nano-30b-a3b 262144
nemotron-3-super-120b-a12b 256000
nemotron-3-ultra-550b-a55b 1000000
nemotron-nano-12b-v2-vl 131072
nemotron-nano-9b-v2 131072
nova-2-lite 1000000
nova-lite 300000
nova-micro 128000
nova-pro 300000
o1 200000
o3 200000
o3-fast 200000
o3-mini 200000
o3-pro 200000
o4-mini 200000
particle-1 1048576
qwen-3-14b 40960
qwen-3-235b 262144
qwen-3-30b 40960
qwen-3-32b 128000
qwen3-5-flash 1000000
qwen3-5-plus 1000000
qwen3-6-27b 256000
qwen3-6-plus 1000000
qwen3-7-flash 991000
qwen3-7-max 991000
qwen3-7-plus 1000000
qwen3-8-2-4t-a95b 262144
qwen3-8-27b 262144
qwen3-8-flash 991000
qwen3-8-max 262144
qwen3-8-max-0902 991000
qwen3-8-max-prime 1000000
qwen3-8-omni-flash 1000000
qwen3-coder 262144
qwen3-coder-30b-a3b 262144
qwen3-coder-next 256000
qwen3-max-thinking 256000
qwen3-next-80b-a3b-instruct 262114
qwen3-next-80b-a3b-thinking 262144
qwen3-vl-instruct 262144
seed-1-6 256000
seed-1-8 256000
seed-2-1-turbo 262144
step-3-7-flash 256000
step-5-preview 1048576
toast-1 131000
@ api.ant-ling.com
ling-2-6-1t 262144
ling-2-6-flash 262144
ring-2-6-1t 262144
@ api.anthropic.com
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-2 1000000
claude-haiku-4-5 200000
claude-haiku-4-5-20251001 200000
claude-haiku-5-5 1000000
claude-opus-4-5 200000
claude-opus-4-5-20251101 200000
claude-opus-4-6 1000000
claude-opus-4-7 1000000
claude-opus-4-8 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-sonnet-4-5 200000
claude-sonnet-4-5-20250929 200000
claude-sonnet-4-6 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
@ api.cerebras.ai
gpt-oss-120b 131072
qwen-3-8-27b 131072
@ api.cloudflare.com
deepseek-v4-1-flash-1017 1048576
deepseek-v4-flash-0731 1048576
deepseek-v4-pro-0813 1048576
gemma-4-26b-a4b-it 256000
glm-4-7-flash 131072
glm-5-2 262144
glm-5-3 1048576
glm-5-3-flash 1048576
gpt-oss-120b 128000
gpt-oss-20b 128000
granite-4-0-h-micro 131000
kimi-k2-6 262144
kimi-k2-7-code 262144
llama-3-3-70b-instruct-fp8-fast 24000
llama-4-scout-17b-16e-instruct 131000
mistral-small-3-1-24b-instruct 128000
nemotron-3-120b-a12b 256000
qwen3-30b-a3b-fp8 32768
qwen3-8-27b 262144
@ api.deepseek.com
deepseek-chat 1000000
deepseek-flash 1000000
deepseek-reasoner 1000000
deepseek-v4-pro 1000000
@ api.fireworks.ai
deepseek-flash-latest 1000000
deepseek-v4-1-flash 1000000
deepseek-v4-1-flash-1017 1000000
deepseek-v4-1-flash-1017-spot 1000000
deepseek-v4-1-flash-1017-ultrafast 1000000
deepseek-v4-1-flash-spot 1000000
ember-1 1048576
glm-5-3 1048573
glm-5-3-fast 1048572
glm-5-3-flash 1048573
glm-5-3-spot 1048573
glm-fast-latest 1048572
glm-flash-latest 1048573
glm-latest 1048573
kimi-fast-latest 1048576
kimi-k3 1048576
kimi-k3-1-pro 1048576
kimi-k3-fast 1048576
kimi-k3-spot 1048576
kimi-latest 1048576
minimax-latest 512000
minimax-m3 512000
minimax-m3-1-flash 1000000
muse-spark-open 1048576
qwen-max-latest 262144
qwen3-8-2-4t-a95b 262144
qwen3-8-max 262144
@ api.groq.com
gpt-oss-120b 131072
gpt-oss-20b 131072
gpt-oss-safeguard-20b 131072
llama-3-1-8b-instant 131072
llama-3-3-70b-versatile 131072
qwen3-6-27b 131072
qwen3-8-27b 131072
@ api.kimi.com
k3 1048576
k3-1-pro 1048576
k3-1-pro-highspeed 1048576
k3-256k 262144
kimi-for-coding 1048576
kimi-for-coding-highspeed 262144
@ api.meta.ai
muse-ember-1-0 1048576
muse-spark-1-1 1048576
muse-spark-1-2 1048576
muse-spark-1-2-contributor 1048576
muse-spark-1-3 1048576
muse-spark-1-3-contributor 1048576
muse-wonder-1-0 1048576
@ api.minimax.io api.minimaxi.com
minimax-m2-7 204800
minimax-m2-7-highspeed 204800
minimax-m3 1000000
minimax-m3-1-flash 1000000
@ api.mistral.ai
codestral-2508 256000
codestral-latest 256000
deepseek-v4-1-flash-1017 1048576
devstral-2512 262144
devstral-latest 262144
devstral-medium-latest 262144
glm-5-2 1048576
labs-devstral-small-2512 256000
labs-leanstral-1-5-1 262144
magistral-medium-latest 262144
ministral-14b-2512 262144
ministral-3b-2512 131072
ministral-3b-latest 131072
ministral-8b-2512 262144
ministral-8b-latest 262144
mistral-large-2512 262144
mistral-large-4 1048576
mistral-large-4-0-8 1048576
mistral-large-latest 262144
mistral-medium-2505 131072
mistral-medium-2508 262144
mistral-medium-2604 262144
mistral-medium-3-5 262144
mistral-medium-latest 262144
mistral-small-2506 128000
mistral-small-2603 262144
mistral-small-latest 262144
open-mistral-nemo 128000
pixtral-12b 128000
voxtral-small-2507 32768
voxtral-small-latest 32768
zai-glm-5-2 1048576
zai-glm-5-3 1048576
zai-glm-5-3-flash 1048576
@ api.moonshot.ai api.moonshot.cn
kimi-k2-6 262144
kimi-k2-7-code 262144
kimi-k2-7-code-highspeed 262144
kimi-k3 1048576
kimi-k3-1-pro 1048576
kimi-k3-1-pro-highspeed 1048576
@ api.together.ai api.together.xyz
beam-1-0-501b-a23b 1048576
deepseek-v4-1-flash 1048576
deepseek-v4-pro-0813 1048576
glm-5-2 1048575
glm-5-3 1048575
glm-5-3-flash 1048575
gpt-oss-120b 131072
inkling 524288
kimi-k3 1048576
kimi-k3-1-pro 1048576
minimax-m3 524288
muse-spark-open-816b-a42b 1048576
nvidia-nemotron-3-5-super-vl 262144
qwen3-5-9b 262144
qwen3-6-plus 1000000
qwen3-7-max 1000000
@ api.xiaomimimo.com token-plan-*.xiaomimimo.com
mimo-v2-6-flash 1048576
mimo-v2-6-pro 1048576
mimo-v2-6-pro-ultraspeed 1048576
@ api.z.ai open.bigmodel.cn
glm-4-6v 128000
glm-4-7 204800
glm-5-2 1000000
glm-5-2-highspeed 1000000
glm-5-3 1000000
glm-5-3-flash 1000000
glm-5-3-highspeed 1000000
glm-5-turbo 200000
@ bedrock-mantle.*.api.aws bedrock-runtime-fips.*.amazonaws.com bedrock-runtime.*.amazonaws.com
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-2 1000000
claude-haiku-4-5-20251001 200000
claude-haiku-5-5 1000000
claude-opus-4-1-20250805 200000
claude-opus-4-5-20251101 200000
claude-opus-4-6 1000000
claude-opus-4-7 1000000
claude-opus-4-8 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-sonnet-4-20250514 200000
claude-sonnet-4-5-20250929 200000
claude-sonnet-4-6 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
deepseek.v3-2 163840
deepseek.v3-v1:0 163840
devstral-2-123b 262144
gemma-4-26b-a4b 262144
gemma-4-31b 262144
gemma-4-e2b 131072
glm-4-7 202752
glm-4-7-flash 202752
glm-5 202752
glm-5-3 1000000
gpt-5-4 872000 input
gpt-5-5 872000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-6-1-sol 922000 input
gpt-6-1-terra 922000 input
gpt-6-astra 922000 input
gpt-6-luna 922000 input
gpt-6-sol 922000 input
gpt-oss-120b 128000
gpt-oss-20b 128000
gpt-oss-safeguard-120b 128000
gpt-oss-safeguard-20b 128000
grok-4-3 1000000
grok-4-6 500000
grok-4-7 500000
kimi-k2-5 262144
kimi-k2-thinking 262144
kimi-k3 1048576
kimi-k3-1 1048576
llama3-1-70b-instruct 128000
llama3-1-8b-instruct 128000
llama3-3-70b-instruct 128000
llama4-maverick-17b-instruct 1000000
llama4-scout-17b-instruct 10000000
magistral-small-2509 128000
minimax-m2 204608
minimax-m2-1 196608
minimax-m2-5 196608
ministral-3-14b-instruct 128000
ministral-3-3b-instruct 256000
ministral-3-8b-instruct 128000
mistral-large-3-675b-instruct 262144
nemotron-nano-12b 131072
nemotron-nano-3-30b 262144
nemotron-nano-9b 131072
nemotron-super-3-120b 262144
nova-2-lite 1000000
nova-lite 300000
nova-micro 128000
nova-premier 1000000
nova-pro 300000
palmyra-x4 122880
palmyra-x5 1040000
pixtral-large-2502 128000
qwen3-235b-a22b-2507 262144
qwen3-32b 32768
qwen3-coder-30b-a3b 262144
qwen3-coder-480b-a35b 131072
qwen3-coder-next 262144
qwen3-next-80b-a3b 262144
qwen3-vl-235b-a22b 262144
voxtral-mini-3b-2507 32768
voxtral-small-24b-2507 32768
@ gateway.ai.cloudflare.com
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-haiku-4-5 200000
claude-haiku-5-5 1000000
claude-opus-4-5 200000
claude-opus-4-6 1000000
claude-opus-4-7 1000000
claude-opus-4-8 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-sonnet-4-5 200000
claude-sonnet-4-6 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
deepseek-v4-1-flash-1017 1048576
deepseek-v4-flash-0731 1048576
deepseek-v4-pro-0813 1048576
gemma-4-26b-a4b-it 256000
glm-4-7-flash 131072
glm-5-2 262144
glm-5-3 1048576
glm-5-3-flash 1048576
gpt-4-1 1047576
gpt-4-1-mini 1047576
gpt-4-1-nano 1000000
gpt-4o 128000
gpt-4o-mini 128000
gpt-5 128000
gpt-5-1 128000
gpt-5-4 872000 input
gpt-5-4-mini 128000
gpt-5-4-nano 128000
gpt-5-4-pro 872000 input
gpt-5-5 872000 input
gpt-5-5-pro 872000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-5-mini 128000
gpt-5-nano 128000
gpt-6-1-sol 922000 input
gpt-6-1-terra 922000 input
gpt-6-astra 922000 input
gpt-6-luna 922000 input
gpt-6-sol 922000 input
gpt-oss-120b 128000
gpt-oss-20b 128000
granite-4-0-h-micro 131000
kimi-k2-6 262144
kimi-k2-7-code 262144
llama-3-3-70b-instruct-fp8-fast 24000
llama-4-scout-17b-16e-instruct 131000
mistral-small-3-1-24b-instruct 128000
nemotron-3-120b-a12b 256000
o3 200000
o3-mini 200000
o4-mini 200000
qwen3-30b-a3b-fp8 32768
qwen3-8-27b 262144
@ generativelanguage.googleapis.com
deep-research-max-preview-04-2026 1048576 input
deep-research-preview-04-2026 1048576 input
gemini-2-5-computer-use-preview-10-2025 128000 input
gemini-2-5-flash 1048576 input
gemini-2-5-flash-lite 1048576 input
gemini-2-5-pro 1048576 input
gemini-3-1-flash-lite 1048576 input
gemini-3-1-flash-lite-preview 1048576 input
gemini-3-1-pro-preview 1048576 input
gemini-3-1-pro-preview-customtools 1048576 input
gemini-3-5-flash 1048576 input
gemini-3-5-flash-lite 1048576 input
gemini-3-6-flash 1048576 input
gemini-3-7-flash 1048576 input
gemini-3-8-flash 1048576 input
gemini-3-flash-preview 1048576 input
gemini-4-argon 1048576 input
gemini-flash-latest 1048576 input
gemini-flash-lite-latest 1048576 input
gemini-pro-latest 1048576 input
gemini-robotics-er-2-preview 131072 input
gemma-4-26b-a4b-it 262144 input
gemma-4-31b-it 262144 input
@ inference.baseten.co
deepseek-v4-1-flash 1048576
deepseek-v4-1-flash-1017 1048576
deepseek-v4-1-flash-1017-fast 1048576
deepseek-v4-1-flash-fast 1048576
deepseek-v4-flash-0731 1048576
deepseek-v4-pro-0813 1048576
glm-5-2 1048576
glm-5-2-fast 1048576
glm-5-3 1048576
glm-5-3-fast 1048576
glm-5-3-flash 1048576
gpt-oss-120b 128072
kimi-k3 1048576
kimi-k3-1-pro 1000000
nvidia-nemotron-3-ultra-550b-a55b 202800
@ integrate.api.nvidia.com
cosmos-reason2-8b 131072
deepseek-v4-1-flash 1000000
diffusiongemma-26b-a4b-it 250000
gemma-3-12b-it 131072
gemma-3-4b-it 131072
glm-5-3-flash 1000000
gpt-oss-20b 131072
kimi-k2-6 262144
laguna-xs-2-1 262144
llama-3-1-nemotron-70b-instruct 128000
llama-3-1-nemotron-ultra-253b-v1 128000
llama-3-2-90b-vision-instruct 128000
minimax-m3-1-flash 262144
mistral-7b-instruct-v0-3 65536
muse-glimmer-30b 131072
nemotron-3-5-lightning-30b-a3b 262144
nemotron-3-5-super-vl-120b-a12b 1048576
nemotron-3-nano-omni-30b-a3b-reasoning 256000
nemotron-3-ultra-550b-a55b 1000000
step-5-preview 1048576
@ opencode.ai
beam-free 1048576
big-pickle 200000
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-2 1000000
claude-haiku-4-5 200000
claude-haiku-5-5 1000000
claude-opus-4-5 200000
claude-opus-4-6 1000000
claude-opus-4-7 1000000
claude-opus-4-8 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-sonnet-4-5 200000
claude-sonnet-4-6 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
deepseek-v4-1-flash 1000000
deepseek-v4-1-flash-free 200000
deepseek-v4-pro 1000000
flint-40b-free 262144
gemini-3-1-pro 1048576 input
gemini-3-5-flash 1048576 input
gemini-3-5-flash-lite 1048576 input
gemini-3-6-flash 1048576 input
gemini-3-7-flash 1048576 input
gemini-3-8-flash 1048576 input
gemini-3-flash 1048576 input
gemini-4-argon 1048576 input
glm-5 204800
glm-5-1 204800
glm-5-2 1000000
glm-5-3 1000000
glm-5-3-flash 1000000
glm-5-3-flash-free 200000
gpt-5 272000 input
gpt-5-1 272000 input
gpt-5-1-codex 272000 input
gpt-5-1-codex-max 272000 input
gpt-5-1-codex-mini 272000 input
gpt-5-2 272000 input
gpt-5-2-codex 272000 input
gpt-5-3-codex 272000 input
gpt-5-4 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-pro 922000 input
gpt-5-5 922000 input
gpt-5-5-pro 922000 input
gpt-5-6-luna 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-terra 922000 input
gpt-5-codex 272000 input
gpt-5-nano 272000 input
gpt-6-1-sol 922000 input
gpt-6-astra 922000 input
gpt-6-luna 922000 input
gpt-6-sol 922000 input
grok-4-5 500000
grok-4-6 500000
grok-4-7 500000
grok-build-0-1 256000
hy3 256000
hy4 1048576
hy4-preview 1024000
iceman-contributor-free 262144
iceman-free 262144
inkling-2-small-free 1048576
kimi-k2-5 262144
kimi-k2-6 262144
kimi-k2-7-code 262144
kimi-k3 1048576
kimi-k3-1-pro 1048576
longcat-2-0 1000000
longcat-2-5-free 1000000
mimo-v2-5 1000000
mimo-v2-5-pro 1048576
mimo-v2-6-flash 1048576
mimo-v2-6-flash-free 200000
mimo-v2-6-pro 1048576
minimax-m2-5 204800
minimax-m2-7 204800
minimax-m3 512000
minimax-m3-1-flash 1000000
minimax-m3-1-flash-free 1000000
mistral-large-4 524288
muse-ember-1-0 1048576
muse-spark-1-2 1048576
muse-spark-1-2-contributor 1048576
muse-spark-1-3 1048576
muse-spark-1-3-contributor 1048576
muse-wonder-1-0 1048576
nemotron-3-5-lightning-free 262144
nemotron-3-5-super-vl-free 1048576
qwen3-5-plus 262144
qwen3-6-plus 262144
qwen3-7-plus 1000000
qwen3-8-flash 1000000
qwen3-8-max 262144
step-5-preview 1000000
@ openrouter.ai
aion-2-0 131072
aion-3-0 131072
aion-3-0-mini 131072
aion-3-5 262144
aion-3-5-mini 262144
auto 2000000
auto-beta 2000000
auto-code 2000000
beam-1-0-501b-a23b 1048576
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-1:batch 1000000
claude-fable-5-2 1000000
claude-fable-5-2:batch 1000000
claude-fable-5:batch 1000000
claude-fable-latest 1000000
claude-haiku-4-5 200000
claude-haiku-4-5:batch 200000
claude-haiku-5-5 1000000
claude-haiku-5-5:batch 1000000
claude-haiku-latest 1000000
claude-opus-4-1 200000
claude-opus-4-1:batch 200000
claude-opus-4-5 200000
claude-opus-4-5:batch 200000
claude-opus-4-6 1000000
claude-opus-4-6:batch 1000000
claude-opus-4-7 1000000
claude-opus-4-7:batch 1000000
claude-opus-4-8 1000000
claude-opus-4-8:batch 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-opus-5-5:batch 1000000
claude-opus-5:batch 1000000
claude-opus-latest 1000000
claude-sonnet-4-5 1000000
claude-sonnet-4-5:batch 1000000
claude-sonnet-4-6 1000000
claude-sonnet-4-6:batch 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
claude-sonnet-5-5:batch 1000000
claude-sonnet-5:batch 1000000
claude-sonnet-latest 1000000
codestral-2508 256000
command-a 256000
command-a-plus 192000
command-r-08-2024 128000
command-r-plus-08-2024 128000
command-r7b-12-2024 128000
deepseek-chat 163840
deepseek-chat-v3-0324 128000
deepseek-chat-v3-1 163840
deepseek-flash-latest 1048576
deepseek-pro-latest 1048576
deepseek-r1-0528 163840
deepseek-v3-1-terminus 163840
deepseek-v3-2 163840
deepseek-v3-2-exp 163840
deepseek-v4-1-flash 1048576
deepseek-v4-1-flash-1017 1048576
deepseek-v4-1-flash-1017:batch 1048576
deepseek-v4-1-flash:batch 1048576
deepseek-v4-flash 1048575
deepseek-v4-flash-0731 1048576
deepseek-v4-flash-0731:batch 1048576
deepseek-v4-flash-latest 1048576
deepseek-v4-flash-vision-exp 1048575
deepseek-v4-pro 1024000
deepseek-v4-pro-0813 1048576
devstral-2512 262144
dots-3-note-preview:free 512000
ember-1 1048576
flint-v1-0:free 262144
free 200000
fugu-max 1000000
fugu-ultra 1000000
fugu-ultra-v2 1000000
fusion 1000000
gemini-2-5-flash 1048576 input
gemini-2-5-flash-lite 1048576 input
gemini-2-5-pro 1048576 input
gemini-2-5-pro-preview 1048576 input
gemini-3-1-flash-lite 1048576 input
gemini-3-1-flash-lite-preview 1048576 input
gemini-3-1-flash-lite:batch 1048576 input
gemini-3-1-pro-preview 1048576 input
gemini-3-1-pro-preview-customtools 1048576 input
gemini-3-1-pro-preview:batch 1048576 input
gemini-3-5-flash 1048576 input
gemini-3-5-flash-lite 1048576 input
gemini-3-5-flash-lite:batch 1048576 input
gemini-3-5-flash:batch 1048576 input
gemini-3-6-flash 1048576 input
gemini-3-6-flash:batch 1048576 input
gemini-3-7-flash 1048576 input
gemini-3-7-flash:batch 1048576 input
gemini-3-8-flash 1048576 input
gemini-3-8-flash:batch 1048576 input
gemini-3-flash-preview 1048576 input
gemini-3-flash-preview:batch 1048576 input
gemini-3-pro-image 65536 input
gemini-4-argon 1048576 input
gemini-4-argon:batch 1048576 input
gemini-flash-latest 1048576 input
gemini-nano-banana-2-1 65536 input
gemini-pro-latest 1048576 input
gemma-3-12b-it 131072
gemma-3-27b-it 131072
gemma-4-26b-a4b-it 256000
gemma-4-26b-a4b-it:free 262144
gemma-4-31b-it 262144
gemma-4-31b-it:free 262144
glimpse 262144
glm-4-5 131072
glm-4-5-air 131072
glm-4-5v 65536
glm-4-6 202752
glm-4-6v 131072
glm-4-7 204800
glm-4-7-flash 131072
glm-5 202752
glm-5-1 202752
glm-5-2 1048576
glm-5-2:batch 1048576
glm-5-3 1048576
glm-5-3-flash 1048575
glm-5-3-flash:batch 1048576
glm-5-3-flashx 1048576
glm-5-3-flashx-legal 1048576
glm-5-3-prime 1000000
glm-5-3:batch 1048576
glm-5-turbo 202752
glm-5v-turbo 202752
glm-flash-latest 1048576
glm-latest 1048576
gpt-3-5-turbo-0613 4095
gpt-3-5-turbo-16k 16385
gpt-4 8191
gpt-4-1 1047576
gpt-4-1-mini 1047576
gpt-4-1-mini:batch 1047576
gpt-4-1-nano 1047576
gpt-4-1-nano:batch 1047576
gpt-4-1:batch 1047576
gpt-4-turbo:batch 128000
gpt-4o 128000
gpt-4o-2024-05-13 128000
gpt-4o-2024-08-06 128000
gpt-4o-2024-11-20 128000
gpt-4o-mini 128000
gpt-4o-mini-2024-07-18 128000
gpt-4o-mini:batch 128000
gpt-4o:batch 128000
gpt-5 272000 input
gpt-5-1 272000 input
gpt-5-1-codex 272000 input
gpt-5-1-codex-max 272000 input
gpt-5-1-codex-mini 272000 input
gpt-5-1:batch 272000 input
gpt-5-2 272000 input
gpt-5-2-chat 128000
gpt-5-2-codex 272000 input
gpt-5-2-pro 272000 input
gpt-5-2-pro:batch 272000 input
gpt-5-2:batch 272000 input
gpt-5-3-codex 272000 input
gpt-5-4 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-mini:batch 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-nano:batch 272000 input
gpt-5-4-pro 922000 input
gpt-5-4-pro:batch 922000 input
gpt-5-4:batch 922000 input
gpt-5-5 922000 input
gpt-5-5-pro 922000 input
gpt-5-5-pro:batch 922000 input
gpt-5-5:batch 922000 input
gpt-5-6-luna 922000 input
gpt-5-6-luna-pro 922000 input
gpt-5-6-luna-pro:batch 922000 input
gpt-5-6-luna:batch 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-sol-pro 922000 input
gpt-5-6-sol-pro:batch 922000 input
gpt-5-6-sol:batch 922000 input
gpt-5-6-terra 922000 input
gpt-5-6-terra-pro 922000 input
gpt-5-6-terra-pro:batch 922000 input
gpt-5-6-terra:batch 922000 input
gpt-5-mini 272000 input
gpt-5-mini:batch 272000 input
gpt-5-nano 272000 input
gpt-5-nano:batch 272000 input
gpt-5-pro 272000 input
gpt-5-pro:batch 272000 input
gpt-5:batch 272000 input
gpt-6-1-sol 922000 input
gpt-6-1-sol-pro 922000 input
gpt-6-1-sol-pro:batch 922000 input
gpt-6-1-sol:batch 922000 input
gpt-6-1-terra 922000 input
gpt-6-1-terra-pro 922000 input
gpt-6-1-terra-pro:batch 922000 input
gpt-6-1-terra:batch 922000 input
gpt-6-astra 922000 input
gpt-6-astra-pro 922000 input
gpt-6-astra-pro:batch 922000 input
gpt-6-astra:batch 922000 input
gpt-6-luna 922000 input
gpt-6-luna-pro 922000 input
gpt-6-luna-pro:batch 922000 input
gpt-6-luna:batch 922000 input
gpt-6-sol 922000 input
gpt-6-sol-pro 922000 input
gpt-6-sol-pro:batch 922000 input
gpt-6-sol:batch 922000 input
gpt-astra-latest 922000 input
gpt-audio 128000
gpt-audio-mini 128000
gpt-chat-latest 272000 input
gpt-luna-latest 922000 input
gpt-mini-latest 272000 input
gpt-oss-120b 131072
gpt-oss-120b:batch 131072
gpt-oss-20b 131072
gpt-oss-20b:batch 131072
gpt-oss-safeguard-20b 131072
gpt-sol-latest 922000 input
gpt-terra-latest 922000 input
granite-4-2-8b 131072
grok-4-20 2000000
grok-4-3 1000000
grok-4-3:batch 1000000
grok-4-5 500000
grok-4-6 500000
grok-4-6:batch 500000
grok-4-7 500000
grok-4-7:batch 500000
grok-build-0-1 256000
grok-latest 500000
hy3 262144
hy3-preview 262144
hy4 1048576
hy4-preview 1048576
inkling 524288
inkling-2-small:free 1048576
inkling-small 524288
inkling-small:batch 524288
jev-router 1000000
kimi-k2 131072
kimi-k2-0905 262144
kimi-k2-5 256000
kimi-k2-6 262144
kimi-k2-7-code 262144
kimi-k2-thinking 262144
kimi-k3 1048576
kimi-k3-1-pro 1048576
kimi-k3:batch 1048576
kimi-latest 1048576
lfm-2-5-2-6b 128000
lfm-2-5-2-6b:free 65536
lfm-2-5-24b-a2b 128000
lfm-3-1-7b 262144
lfm-3-1-7b:free 262144
ling-3-0-flash 262144
ling-3-0-flash-vl 131072
ling-3-0-tiny 262144
ling-3-1-flash 1000000
llama-3-1-8b-instruct 131072
llama-3-3-70b-instruct 128000
llama-4-maverick 524288
llama-4-scout 327680
longcat-2-0 1048756
mimo-v2-5 1000000
mimo-v2-5-pro 262144
mimo-v2-6-flash 1048576
mimo-v2-6-pro 1048576
mimo-v2-6-pro-ultraspeed 1048576
minimax-m2-5 65536
minimax-m2-7 196608
minimax-m3 524288
minimax-m3-1-flash 1048576
minimax-m3:batch 524288
ministral-14b-2512 262144
ministral-3b-2512 131072
ministral-8b-2512 262144
mistral-large 128000
mistral-large-2407 131072
mistral-large-2512 262144
mistral-large-4-0 1048576
mistral-medium-3 131072
mistral-medium-3-1 131072
mistral-medium-3-5 262144
mistral-medium-3-5:batch 262144
mistral-nemo 131072
mistral-saba 32768
mistral-small-2603 262144
mistral-small-3-1-24b-instruct 128000
mistral-small-3-2-24b-instruct 32768
mixtral-8x22b-instruct 65536
muse-ember 1048576
muse-glimmer-30b 131072
muse-glimmer-30b:batch 131072
muse-spark-1-1 1048576
muse-spark-1-2 1048576
muse-spark-1-2-contributor 1048576
muse-spark-1-3 1048576
muse-spark-1-3-contributor 1048576
muse-spark-open 1048576
muse-wonder 1048576
nemotron-3-5-lightning 262144
nemotron-3-5-lightning:free 1000000
nemotron-3-5-super-vl 1048576
nemotron-3-5-super-vl:free 1000000
nemotron-3-nano-30b-a3b 262144
nemotron-3-nano-omni-30b-a3b-reasoning:free 256000
nemotron-3-super-120b-a12b 262144
nemotron-3-ultra-550b-a55b 202800
nemotron-3-ultra-550b-a55b:free 1000000
nex-n2-5-pro 262144
nex-n2-6 262144
north-mini-code:free 256000
nova-2-lite-v1 1000000
nova-lite-v1 300000
nova-micro-v1 128000
nova-premier-v1 1000000
nova-pro-v1 300000
o3 200000
o3-mini:batch 200000
o3-pro 200000
o3:batch 200000
o4-mini:batch 200000
pareto-26-10 1048576
pareto-26-9 262144
pareto-code 2000000
pareto-latest 1048576
particle-1 1048576
perceptron-mk1-5 36864
qwen-2-5-72b-instruct 32768
qwen-2-5-7b-instruct 32768
qwen-plus 1000000
qwen3-14b 40960
qwen3-235b-a22b-2507 131072
qwen3-235b-a22b-thinking-2507 128000
qwen3-30b-a3b 40960
qwen3-30b-a3b-instruct-2507 262144
qwen3-32b 40960
qwen3-5-122b-a10b 262144
qwen3-5-27b 262144
qwen3-5-35b-a3b 262144
qwen3-5-397b-a17b 256000
qwen3-5-9b 262144
qwen3-5-flash-02-23 1000000
qwen3-5-plus-02-15 1000000
qwen3-5-plus-20260420 1000000
qwen3-6-27b 262144
qwen3-6-35b-a3b 262144
qwen3-6-flash 1000000
qwen3-6-plus 1000000
qwen3-7-flash 1000000
qwen3-7-max 1000000
qwen3-7-plus 1000000
qwen3-7-plus:batch 262144
qwen3-8-2-4t-a95b 1048576
qwen3-8-27b 262144
qwen3-8-27b:batch 262144
qwen3-8-flash 1000000
qwen3-8-max-0902 1000000
qwen3-8-max-0902:batch 262144
qwen3-8-max-prime 1000000
qwen3-8-omni-flash 1000000
qwen3-coder 262144
qwen3-coder-30b-a3b-instruct 262144
qwen3-coder-flash 1000000
qwen3-coder-next 262144
qwen3-next-80b-a3b-instruct 262144
qwen3-vl-235b-a22b-instruct 131072
qwen3-vl-30b-a3b-instruct 262144
qwen3-vl-30b-a3b-thinking 262144
qwen3-vl-8b-instruct 262144
reka-edge 16384
relace-search 256000
ripple-65b-preview 1048576
sakana-namazu 262144
seed-1-6 262144
seed-1-6-flash 262144
seed-2-0-code 262144
seed-2-0-lite 262144
seed-2-0-mini 262144
seed-2-1-turbo 262144
solar-mini4 524288
solar-pro4 524288
step-3-5-flash 262144
step-3-7-flash 256000
step-5-preview 1000000
ternary-bonsai-2-27b 262144
ternary-bonsai-2-9b 262144
voxtral-small-24b-2507 32768
xing4-0-29b-a4b:free 262144
@ router.huggingface.co
deepseek-r1 64000
deepseek-r1-0528 163840
deepseek-v3 64000
deepseek-v3-0324 163840
deepseek-v3-1 131072
deepseek-v3-2 163840
deepseek-v4-1-flash 1048576
deepseek-v4-1-flash-1017 1048576
deepseek-v4-flash 1048576
deepseek-v4-flash-0731 1048576
deepseek-v4-flash-vision-exp 1048576
deepseek-v4-pro 1048576
deepseek-v4-pro-0813 1000000
gemma-3-12b-it 131072
gemma-3-27b-it 131072
gemma-3-4b-it 131072
gemma-4-26b-a4b-it 262144
gemma-4-31b-it 262144
glm-4-5-air 131072
glm-4-5v 65536
glm-4-6 204800
glm-4-6v-flash 131072
glm-4-7 204800
glm-4-7-flash 200000
glm-5 202752
glm-5-1 202752
glm-5-2 262144
glm-5-3 1048576
glm-5-3-flash 1048576
gpt-oss-120b 131072
gpt-oss-20b 131072
hy3 262144
hy4-preview 1000000
inkling 1048576
inkling-small 524288
kimi-k2-5 262144
kimi-k2-6 262144
kimi-k2-7-code 262144
kimi-k2-instruct 131072
kimi-k2-instruct-0905 262144
kimi-k2-thinking 262144
kimi-k3 1000000
llama-3-1-8b-instruct 131072
llama-3-3-70b-instruct 131072
mimo-v2-5 262144
mimo-v2-5-pro 1048576
minimax-m1-80k 1000000
minimax-m2 204800
minimax-m2-1 204800
minimax-m2-5 204800
minimax-m2-7 204800
minimax-m3 524288
minimax-m3-1-flash 1000000
qwen2-5-coder-32b-instruct 131072
qwen3-235b-a22b 40960
qwen3-235b-a22b-instruct-2507 262144
qwen3-235b-a22b-thinking-2507 262144
qwen3-30b-a3b 40960
qwen3-32b 131072
qwen3-5-122b-a10b 262144
qwen3-5-27b 262144
qwen3-5-35b-a3b 262144
qwen3-5-397b-a17b 262144
qwen3-5-9b 262144
qwen3-6-27b 262144
qwen3-6-35b-a3b 262144
qwen3-8-2-4t-a95b 262144
qwen3-8-27b 262144
qwen3-8b 40960
qwen3-coder-30b-a3b-instruct 262144
qwen3-coder-480b-a35b-instruct 262144
qwen3-coder-next 262144
qwen3-next-80b-a3b-instruct 262144
qwen3-vl-235b-a22b-instruct 131072
qwen3-vl-235b-a22b-thinking 131072
qwen3-vl-30b-a3b-instruct 131072
step-3-5-flash 262144
step-3-7-flash 262144
@ *
aion-2-0 131072
aion-3-0 131072
aion-3-0-mini 131072
aion-3-5 262144
aion-3-5-mini 262144
ampersand-v0-1 1000000
arrow-2 131072
arrow-2-telos 131072
beam-1-0-501b-a23b 1048576
chat-latest 272000 input
claude-fable-5 1000000
claude-fable-5-1 1000000
claude-fable-5-1-batch 1000000
claude-fable-5-1:batch 1000000
claude-fable-5-2 1000000
claude-fable-5-2-batch 1000000
claude-fable-5-2-fast 1000000
claude-fable-5-2:batch 1000000
claude-fable-5-batch 1000000
claude-fable-5:batch 1000000
claude-haiku-4-5 200000
claude-haiku-4-5-20251001 200000
claude-haiku-4-5-batch 200000
claude-haiku-4-5:batch 200000
claude-haiku-5-5 1000000
claude-haiku-5-5-batch 1000000
claude-haiku-5-5:batch 1000000
claude-opus-4-1 200000
claude-opus-4-1-20250805 200000
claude-opus-4-1:batch 200000
claude-opus-4-5 200000
claude-opus-4-5-20251101 200000
claude-opus-4-5-batch 200000
claude-opus-4-5:batch 200000
claude-opus-4-6 1000000
claude-opus-4-6-batch 1000000
claude-opus-4-6:batch 1000000
claude-opus-4-7 1000000
claude-opus-4-7-batch 1000000
claude-opus-4-7:batch 1000000
claude-opus-4-8 1000000
claude-opus-4-8-batch 1000000
claude-opus-4-8-fast 1000000
claude-opus-4-8:batch 1000000
claude-opus-5 1000000
claude-opus-5-5 1000000
claude-opus-5-5-batch 1000000
claude-opus-5-5-fast 1000000
claude-opus-5-5:batch 1000000
claude-opus-5-batch 1000000
claude-opus-5-fast 1000000
claude-opus-5:batch 1000000
claude-sonnet-4-20250514 200000
claude-sonnet-4-5 200000
claude-sonnet-4-5-20250929 200000
claude-sonnet-4-5-batch 1000000
claude-sonnet-4-5:batch 1000000
claude-sonnet-4-6 1000000
claude-sonnet-4-6-batch 1000000
claude-sonnet-4-6:batch 1000000
claude-sonnet-5 1000000
claude-sonnet-5-5 1000000
claude-sonnet-5-5-batch 1000000
claude-sonnet-5-5:batch 1000000
claude-sonnet-5-batch 1000000
claude-sonnet-5:batch 1000000
codestral-2508 256000
codestral-latest 256000
command-r-08-2024 128000
command-r-plus-08-2024 128000
command-r7b-12-2024 128000
cosmos-reason2-8b 131072
deep-research-max-preview-04-2026 1048576 input
deep-research-preview-04-2026 1048576 input
deepseek-chat 1000000
deepseek-chat-v3-0324 128000
deepseek-chat-v3-1 163840
deepseek-flash 1000000
deepseek-r1 128000
deepseek-r1-0528 163840
deepseek-reasoner 1000000
deepseek-v3 128000
deepseek-v3-0324 163840
deepseek-v3-1 131072
deepseek-v3-1-terminus 163840
deepseek-v3-2 163840
deepseek-v3-2-exp 163840
deepseek-v3-2-thinking 128000
deepseek-v4-1-flash 1048576
deepseek-v4-1-flash-1017 1048576
deepseek-v4-1-flash-1017-fast 1048576
deepseek-v4-1-flash-1017-spot 1000000
deepseek-v4-1-flash-1017-ultrafast 1000000
deepseek-v4-1-flash-1017:batch 1048576
deepseek-v4-1-flash-fast 1048576
deepseek-v4-1-flash-free 200000
deepseek-v4-1-flash-spot 1000000
deepseek-v4-1-flash:batch 1048576
deepseek-v4-flash 1000000
deepseek-v4-flash-0731 1048576
deepseek-v4-flash-0731:batch 1048576
deepseek-v4-flash-latest 1048576
deepseek-v4-flash-vision-exp 1048576
deepseek-v4-pro 1000000
deepseek-v4-pro-0813 1048576
deepseek.v3-2 163840
deepseek.v3-v1:0 163840
devstral-2-123b 262144
devstral-2512 262144
devstral-latest 262144
devstral-medium-latest 262144
diffusiongemma-26b-a4b-it 250000
dots-3-note-preview:free 512000
ember-1 1048576
flint-40b-free 262144
flint-v1-0:free 262144
fugu-ultra-v2 1000000
gemini-2-5-computer-use-preview-10-2025 128000 input
gemini-2-5-flash 1048576 input
gemini-2-5-flash-batch 1000000 input
gemini-2-5-flash-lite 1048576 input
gemini-2-5-flash-lite-batch 1048576 input
gemini-2-5-pro 1048576 input
gemini-2-5-pro-batch 1048576 input
gemini-2-5-pro-preview 1048576 input
gemini-3-1-flash-lite 1048576 input
gemini-3-1-flash-lite-batch 1000000 input
gemini-3-1-flash-lite-preview 1048576 input
gemini-3-1-flash-lite:batch 1048576 input
gemini-3-1-pro 1048576 input
gemini-3-1-pro-preview 1048576 input
gemini-3-1-pro-preview-batch 1000000 input
gemini-3-1-pro-preview-customtools 1048576 input
gemini-3-1-pro-preview:batch 1048576 input
gemini-3-5-flash 1048576 input
gemini-3-5-flash-lite 1048576 input
gemini-3-5-flash-lite-batch 1000000 input
gemini-3-5-flash-lite:batch 1048576 input
gemini-3-5-flash:batch 1048576 input
gemini-3-6-flash 1048576 input
gemini-3-6-flash-batch 1000000 input
gemini-3-6-flash:batch 1048576 input
gemini-3-7-flash 1048576 input
gemini-3-7-flash:batch 1048576 input
gemini-3-8-flash 1048576 input
gemini-3-8-flash:batch 1048576 input
gemini-3-flash 1000000 input
gemini-3-flash-batch 1000000 input
gemini-3-flash-preview 1048576 input
gemini-3-flash-preview:batch 1048576 input
gemini-3-pro-image 65536 input
gemini-4-argon 1048576 input
gemini-4-argon:batch 1048576 input
gemini-flash-latest 1048576 input
gemini-flash-lite-latest 1048576 input
gemini-nano-banana-2-1 65536 input
gemini-pro-latest 1048576 input
gemini-robotics-er-2-preview 131072 input
gemma-3-12b-it 131072
gemma-3-27b-it 131072
gemma-3-4b-it 131072
gemma-4-26b-a4b 262144
gemma-4-26b-a4b-it 256000
gemma-4-26b-a4b-it:free 262144
gemma-4-31b 262144
gemma-4-31b-it 262144
gemma-4-31b-it:free 262144
gemma-4-e2b 131072
glm-4-5 128000
glm-4-5-air 131072
glm-4-5v 65536
glm-4-6 200000
glm-4-6v 128000
glm-4-6v-flash 131072
glm-4-7 204800
glm-4-7-flash 131072
glm-4-7-flashx 200000
glm-5 202752
glm-5-1 202752
glm-5-2 1000000
glm-5-2-fast 1000000
glm-5-2-highspeed 1000000
glm-5-2:batch 1048576
glm-5-3 1000000
glm-5-3-fast 1048576
glm-5-3-flash 1000000
glm-5-3-flash-free 200000
glm-5-3-flash:batch 1048576
glm-5-3-flashx 1000000
glm-5-3-flashx-legal 1000000
glm-5-3-highspeed 1000000
glm-5-3-prime 1000000
glm-5-3-spot 1048573
glm-5-3:batch 1048576
glm-5-turbo 200000
glm-5v-turbo 200000
gpt-3-5-turbo-0613 4095
gpt-3-5-turbo-16k 16385
gpt-4 8192
gpt-4-1 1047576
gpt-4-1-batch 1047576
gpt-4-1-fast 1047576
gpt-4-1-mini 1047576
gpt-4-1-mini-batch 1047576
gpt-4-1-mini-fast 1047576
gpt-4-1-mini:batch 1047576
gpt-4-1-nano 1047576
gpt-4-1-nano:batch 1047576
gpt-4-1:batch 1047576
gpt-4-turbo 128000
gpt-4-turbo:batch 128000
gpt-4o 128000
gpt-4o-2024-05-13 128000
gpt-4o-2024-08-06 128000
gpt-4o-2024-11-20 128000
gpt-4o-batch 128000
gpt-4o-fast 128000
gpt-4o-mini 128000
gpt-4o-mini-2024-07-18 128000
gpt-4o-mini-batch 128000
gpt-4o-mini-fast 128000
gpt-4o-mini:batch 128000
gpt-4o:batch 128000
gpt-5 272000 input
gpt-5-1 272000 input
gpt-5-1-codex 272000 input
gpt-5-1-codex-max 272000 input
gpt-5-1-codex-mini 272000 input
gpt-5-1-thinking 272000 input
gpt-5-1-thinking-fast 272000 input
gpt-5-1:batch 272000 input
gpt-5-2 272000 input
gpt-5-2-batch 272000 input
gpt-5-2-chat 128000
gpt-5-2-codex 272000 input
gpt-5-2-fast 272000 input
gpt-5-2-pro 272000 input
gpt-5-2-pro:batch 272000 input
gpt-5-2:batch 272000 input
gpt-5-3-codex 272000 input
gpt-5-3-codex-fast 272000 input
gpt-5-3-codex-spark 128000
gpt-5-4 922000 input
gpt-5-4-batch 922000 input
gpt-5-4-fast 922000 input
gpt-5-4-mini 272000 input
gpt-5-4-mini-batch 272000 input
gpt-5-4-mini-fast 272000 input
gpt-5-4-mini:batch 272000 input
gpt-5-4-nano 272000 input
gpt-5-4-nano-batch 272000 input
gpt-5-4-nano:batch 272000 input
gpt-5-4-pro 922000 input
gpt-5-4-pro:batch 922000 input
gpt-5-4:batch 922000 input
gpt-5-5 922000 input
gpt-5-5-batch 872000 input
gpt-5-5-fast 872000 input
gpt-5-5-pro 922000 input
gpt-5-5-pro-batch 872000 input
gpt-5-5-pro:batch 922000 input
gpt-5-5:batch 922000 input
gpt-5-6-cyber 272000 input
gpt-5-6-luna 922000 input
gpt-5-6-luna-batch 922000 input
gpt-5-6-luna-fast 922000 input
gpt-5-6-luna-pro 922000 input
gpt-5-6-luna-pro:batch 922000 input
gpt-5-6-luna:batch 922000 input
gpt-5-6-sol 922000 input
gpt-5-6-sol-batch 922000 input
gpt-5-6-sol-fast 922000 input
gpt-5-6-sol-pro 922000 input
gpt-5-6-sol-pro:batch 922000 input
gpt-5-6-sol:batch 922000 input
gpt-5-6-terra 922000 input
gpt-5-6-terra-batch 922000 input
gpt-5-6-terra-fast 922000 input
gpt-5-6-terra-pro 922000 input
gpt-5-6-terra-pro:batch 922000 input
gpt-5-6-terra:batch 922000 input
gpt-5-batch 272000 input
gpt-5-chat-latest 128000
gpt-5-codex 272000 input
gpt-5-fast 272000 input
gpt-5-mini 272000 input
gpt-5-mini-batch 272000 input
gpt-5-mini-fast 272000 input
gpt-5-mini:batch 272000 input
gpt-5-nano 272000 input
gpt-5-nano-batch 272000 input
gpt-5-nano:batch 272000 input
gpt-5-pro 272000 input
gpt-5-pro-batch 272000 input
gpt-5-pro:batch 272000 input
gpt-5:batch 272000 input
gpt-6-1-sol 922000 input
gpt-6-1-sol-batch 922000 input
gpt-6-1-sol-fast 922000 input
gpt-6-1-sol-pro 922000 input
gpt-6-1-sol-pro:batch 922000 input
gpt-6-1-sol:batch 922000 input
gpt-6-1-terra 922000 input
gpt-6-1-terra-fast 922000 input
gpt-6-1-terra-pro 922000 input
gpt-6-1-terra-pro:batch 922000 input
gpt-6-1-terra:batch 922000 input
gpt-6-astra 922000 input
gpt-6-astra-batch 922000 input
gpt-6-astra-fast 922000 input
gpt-6-astra-pro 922000 input
gpt-6-astra-pro:batch 922000 input
gpt-6-astra:batch 922000 input
gpt-6-luna 922000 input
gpt-6-luna-batch 922000 input
gpt-6-luna-fast 922000 input
gpt-6-luna-pro 922000 input
gpt-6-luna-pro:batch 922000 input
gpt-6-luna:batch 922000 input
gpt-6-sol 922000 input
gpt-6-sol-batch 922000 input
gpt-6-sol-fast 922000 input
gpt-6-sol-pro 922000 input
gpt-6-sol-pro:batch 922000 input
gpt-6-sol:batch 922000 input
gpt-daybreak-blue-latest 922000 input
gpt-daybreak-red-latest 272000 input
gpt-oss-120b 131072
gpt-oss-120b:batch 131072
gpt-oss-20b 131072
gpt-oss-20b:batch 131072
gpt-oss-safeguard-120b 128000
gpt-oss-safeguard-20b 128000
granite-4-0-h-micro 131000
granite-4-2-8b 131072
grok-4-20 2000000
grok-4-20-multi-agent 2000000
grok-4-20-multi-agent-batch 2000000
grok-4-20-multi-agent-beta 2000000
grok-4-20-non-reasoning 2000000
grok-4-20-non-reasoning-batch 2000000
grok-4-20-non-reasoning-beta 2000000
grok-4-20-reasoning 2000000
grok-4-20-reasoning-batch 2000000
grok-4-20-reasoning-beta 2000000
grok-4-3 1000000 input
grok-4-3-batch 1000000
grok-4-3:batch 1000000
grok-4-5 500000 input
grok-4-6 500000 input
grok-4-6:batch 500000
grok-4-7 500000 input
grok-4-7:batch 500000
grok-build-0-1 256000
grok-voice-3-0 4096
hy3 262144
hy3-preview 262144
hy4 1048576
hy4-preview 1024000
inkling-2-small-free 1048576
inkling-2-small:free 1048576
k3 1048576
k3-1-pro 1048576
k3-1-pro-highspeed 1048576
k3-256k 262144
kimi-k2 131072
kimi-k2-0905 262144
kimi-k2-5 262144
kimi-k2-6 262144
kimi-k2-7-code 262144
kimi-k2-7-code-highspeed 262144
kimi-k2-instruct 131072
kimi-k2-instruct-0905 262144
kimi-k2-thinking 262144
kimi-k3 1048576
kimi-k3-1 1048576
kimi-k3-1-pro 1048576
kimi-k3-1-pro-highspeed 1048576
kimi-k3-fast 1000000
kimi-k3-spot 1048576
kimi-k3:batch 1048576
labs-devstral-small-2512 256000
labs-leanstral-1-5-1 262144
laguna-s-2-1 1000000
laguna-xs-2-1 262144
lfm-2-5-2-6b 128000
lfm-2-5-2-6b:free 65536
lfm-2-5-24b-a2b 128000
lfm-3-1-7b 262144
lfm-3-1-7b:free 262144
lfm2-5-24b-a2b 128000
ling-2-6-1t 262144
ling-2-6-flash 262144
ling-3-0-flash 256000
ling-3-0-flash-fin 256000
ling-3-0-flash-sante 256000
ling-3-0-flash-vl 131072
ling-3-0-tiny 262144
ling-3-1-flash 262144
ling-3-1-flash-1019 1000000
llama-3-1-70b 128000
llama-3-1-8b 128000
llama-3-1-8b-instant 131072
llama-3-1-8b-instruct 131072
llama-3-1-nemotron-70b-instruct 128000
llama-3-1-nemotron-ultra-253b-v1 128000
llama-3-2-90b-vision-instruct 128000
llama-3-3-70b 128000
llama-3-3-70b-instruct 128000
llama-3-3-70b-instruct-fp8-fast 24000
llama-3-3-70b-versatile 131072
llama-4-maverick 128000
llama-4-scout 128000
llama-4-scout-17b-16e-instruct 131000
llama3-1-70b-instruct 128000
llama3-1-8b-instruct 128000
llama3-3-70b-instruct 128000
llama4-maverick-17b-instruct 1000000
llama4-scout-17b-instruct 10000000
longcat-2-0 1000000
longcat-2-5 1048576
longcat-2-5-free 1000000
magistral-medium-latest 262144
magistral-small-2509 128000
mai-code-1-1-flash 128000 input
mercury-2 128000
mercury-2-5 260000
mercury-3 1000000
mimo-v2-5 1000000
mimo-v2-5-pro 1048576
mimo-v2-6-flash 1048576
mimo-v2-6-flash-free 200000
mimo-v2-6-pro 1048576
mimo-v2-6-pro-ultraspeed 1048576
minimax-m1-80k 1000000
minimax-m2 204608
minimax-m2-1 204800
minimax-m2-1-lightning 204800
minimax-m2-5 204800
minimax-m2-5-highspeed 204800
minimax-m2-7 204800
minimax-m2-7-highspeed 204800
minimax-m3 1000000
minimax-m3-1-flash 1000000
minimax-m3-1-flash-free 1000000
minimax-m3:batch 524288
ministral-14b 262144
ministral-14b-2512 262144
ministral-3-14b-instruct 128000
ministral-3-3b-instruct 256000
ministral-3-8b-instruct 128000
ministral-3b 131072
ministral-3b-2512 131072
ministral-3b-latest 131072
ministral-8b 262144
ministral-8b-2512 262144
ministral-8b-latest 262144
mistral-7b-instruct-v0-3 32768
mistral-large-2407 131072
mistral-large-2512 262144
mistral-large-3 262144
mistral-large-3-675b-instruct 262144
mistral-large-4 1048576
mistral-large-4-0 1048576
mistral-large-4-0-8 1048576
mistral-large-latest 262144
mistral-medium-2505 131072
mistral-medium-2508 262144
mistral-medium-2604 262144
mistral-medium-3 131072
mistral-medium-3-1 131072
mistral-medium-3-5 262144
mistral-medium-3-5:batch 262144
mistral-medium-latest 262144
mistral-small-2506 128000
mistral-small-2603 262144
mistral-small-3-1-24b-instruct 128000
mistral-small-3-2-24b-instruct 32768
mistral-small-latest 262144
mixtral-8x22b-instruct 65536
muse-ember-1-0 1048576
muse-glimmer-30b 131072
muse-glimmer-30b:batch 131072
muse-spark-1-1 1048576
muse-spark-1-2 1048576
muse-spark-1-2-contributor 1048576
muse-spark-1-3 1048576
muse-spark-1-3-contributor 1048576
muse-spark-open-816b-a42b 1048576
muse-wonder-1-0 1048576
nemotron-3-120b-a12b 256000
nemotron-3-5-lightning 262144
nemotron-3-5-lightning-30b-a3b 262144
nemotron-3-5-lightning-free 262144
nemotron-3-5-lightning:free 1000000
nemotron-3-5-super-vl 1048576
nemotron-3-5-super-vl-120b-a12b 1048576
nemotron-3-5-super-vl-free 1048576
nemotron-3-5-super-vl:free 1000000
nemotron-3-nano-30b-a3b 262144
nemotron-3-nano-omni-30b-a3b-reasoning 256000
nemotron-3-nano-omni-30b-a3b-reasoning:free 256000
nemotron-3-super-120b-a12b 256000
nemotron-3-ultra-550b-a55b 1000000
nemotron-3-ultra-550b-a55b:free 1000000
nemotron-nano-12b 131072
nemotron-nano-12b-v2-vl 131072
nemotron-nano-3-30b 262144
nemotron-nano-9b 131072
nemotron-nano-9b-v2 131072
nemotron-super-3-120b 262144
nex-n2-5-pro 262144
nex-n2-6 262144
nova-2-lite 1000000
nova-2-lite-v1 1000000
nova-lite 300000
nova-lite-v1 300000
nova-micro 128000
nova-micro-v1 128000
nova-premier 1000000
nova-premier-v1 1000000
nova-pro 300000
nova-pro-v1 300000
nvidia-nemotron-3-5-super-vl 262144
nvidia-nemotron-3-ultra-550b-a55b 202800
o1 200000
o1-pro 200000
o3 200000
o3-fast 200000
o3-mini 200000
o3-mini:batch 200000
o3-pro 200000
o3:batch 200000
o4-mini 200000
o4-mini:batch 200000
open-mistral-nemo 128000
palmyra-x4 122880
palmyra-x5 1040000
pareto-26-10 1048576
pareto-26-9 262144
particle-1 1048576
perceptron-mk1-5 36864
pixtral-12b 128000
pixtral-large-2502 128000
qwen-2-5-72b-instruct 32768
qwen-2-5-7b-instruct 32768
qwen-3-14b 40960
qwen-3-235b 262144
qwen-3-30b 40960
qwen-3-32b 128000
qwen-3-8-27b 131072
qwen2-5-coder-32b-instruct 32768
qwen3-14b 40960
qwen3-235b-a22b 40960
qwen3-235b-a22b-2507 131072
qwen3-235b-a22b-instruct-2507 262144
qwen3-235b-a22b-thinking-2507 128000
qwen3-30b-a3b 40960
qwen3-30b-a3b-fp8 32768
qwen3-30b-a3b-instruct-2507 262144
qwen3-32b 40960
qwen3-5-122b-a10b 262144
qwen3-5-27b 262144
qwen3-5-35b-a3b 262144
qwen3-5-397b-a17b 256000
qwen3-5-9b 262144
qwen3-5-flash 1000000
qwen3-5-flash-02-23 1000000
qwen3-5-plus 262144
qwen3-5-plus-02-15 1000000
qwen3-5-plus-20260420 1000000
qwen3-6-27b 262144
qwen3-6-35b-a3b 262144
qwen3-6-flash 983616 input
qwen3-6-plus 983616 input
qwen3-7-flash 991000
qwen3-7-max 983616 input
qwen3-7-plus 983616 input
qwen3-7-plus:batch 262144
qwen3-8-2-4t-a95b 262144
qwen3-8-27b 262144
qwen3-8-27b:batch 262144
qwen3-8-flash 983616 input
qwen3-8-max 983616 input
qwen3-8-max-0902 991000
qwen3-8-max-0902:batch 262144
qwen3-8-max-prime 1000000
qwen3-8-omni-flash 1000000
qwen3-8b 40960
qwen3-coder 262144
qwen3-coder-30b-a3b 262144
qwen3-coder-30b-a3b-instruct 262144
qwen3-coder-480b-a35b 131072
qwen3-coder-480b-a35b-instruct 262144
qwen3-coder-flash 1000000
qwen3-coder-next 262144
qwen3-max-thinking 256000
qwen3-next-80b-a3b 262144
qwen3-next-80b-a3b-instruct 262144
qwen3-next-80b-a3b-thinking 262144
qwen3-vl-235b-a22b 262144
qwen3-vl-235b-a22b-instruct 131072
qwen3-vl-235b-a22b-thinking 131072
qwen3-vl-30b-a3b-instruct 131072
qwen3-vl-30b-a3b-thinking 262144
qwen3-vl-8b-instruct 262144
qwen3-vl-instruct 262144
ring-2-6-1t 262144
ripple-65b-preview 1048576
seed-1-6 256000
seed-1-6-flash 262144
seed-1-8 256000
seed-2-0-code 262144
seed-2-0-lite 262144
seed-2-0-mini 262144
seed-2-1-turbo 262144
solar-mini4 524288
solar-pro4 524288
step-3-5-flash 262144
step-3-7-flash 256000
step-5-preview 1000000
ternary-bonsai-2-27b 262144
ternary-bonsai-2-9b 262144
toast-1 131000
voxtral-mini-3b-2507 32768
voxtral-small-24b-2507 32768
voxtral-small-2507 32768
voxtral-small-latest 32768
xing4-0-29b-a4b:free 262144
zai-glm-5-2 1048576
zai-glm-5-3 1048576
zai-glm-5-3-flash 1048576
`
