import { firstFigure, leastFigure, stated, withInputLimit, type Stated } from './figure.ts'
import { field } from './model-row.ts'

/** llama-server's `/props`. The figure is one slot's already: it is not divided by the number of slots. */
export function readLlamaProps(answer: unknown): Stated {
  // A router without the model's own process answers for itself.
  if (field(answer, 'role') === 'router') return 'unloaded'
  return firstFigure(
    stated(field(answer, 'default_generation_settings', 'n_ctx'), 'total', 'loaded'),
    stated(field(answer, 'default_generation_settings', 'params', 'n_ctx'), 'total', 'loaded'),
  )
}

/**
 * SGLang's `/get_server_info`: the window it was started with, which may be null, and what its memory holds.
 * The largest prompt is a few tokens short of the smaller of these, and the output still has to fit beside it:
 * so all three are totals.
 */
export function readSglangInfo(answer: unknown): Stated {
  return leastFigure(
    stated(field(answer, 'context_length'), 'total', 'loaded'),
    stated(field(answer, 'max_total_num_tokens'), 'total', 'loaded'),
    stated(field(answer, 'max_req_input_len'), 'total', 'loaded'),
  )
}

/** Text Generation Inference's `/info`; `max_input_length` is the older name. */
export function readTgiInfo(answer: unknown): Stated {
  return withInputLimit(
    stated(field(answer, 'max_total_tokens'), 'total', 'loaded'),
    firstFigure(
      stated(field(answer, 'max_input_tokens'), 'input', 'loaded'),
      stated(field(answer, 'max_input_length'), 'input', 'loaded'),
    ),
  )
}

/** KoboldCpp's `/api/extra/true_max_context_length`. */
export function readKoboldLength(answer: unknown): Stated {
  return stated(field(answer, 'value'), 'total', 'loaded')
}
