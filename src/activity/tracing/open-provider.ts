import type { Resource } from '@opentelemetry/resources'
import type * as Sdk from '@opentelemetry/sdk-trace'
import type { Log } from '../../log/log.ts'
import type { BatchSettings, SamplerSettings, SdkSettings } from './sdk-settings.ts'
import { variable, type Environment } from './variables.ts'

export type OpenProviderOptions = {
  readonly env: Environment
  /** Foldgate's version. */
  readonly version: string
  readonly log: Log
  readonly settings: SdkSettings
  readonly exporters: readonly Sdk.SpanExporter[]
}

/** Loads the SDK and sets it up as the environment says. Nothing is registered globally. */
export async function openProvider(options: OpenProviderOptions): Promise<Sdk.TracerProvider> {
  const { settings, exporters } = options
  const [sdk, resource] = await Promise.all([import('@opentelemetry/sdk-trace'), openResource(options)])
  return new sdk.TracerProvider({
    resource,
    sampler: samplerFrom(sdk, settings.sampler),
    spanLimits: { attributeValueLengthLimit: VALUE_CHARS_MAX },
    spanProcessors: exporters.map(
      (exporter) => new sdk.BatchSpanProcessor({ exporter, ...batchOptions(settings.batch) }),
    ),
  })
}

// --- internal ---

/** Longer names come from no provider, and names of models come from clients. */
const VALUE_CHARS_MAX = 512

/** Who sends: the SDK's name and Foldgate's, then what the environment says. Neither host nor process is looked at. */
async function openResource({ env, version, log }: OpenProviderOptions): Promise<Resource> {
  const resources = await import('@opentelemetry/resources')
  const own = resources.resourceFromAttributes({ 'service.name': 'foldgate', 'service.version': version })
  const detectors = [resources.resourceAttributesEnvDetector, resources.serviceNameEnvDetector]
  const isGiven = variable(env, 'OTEL_RESOURCE_ATTRIBUTES') !== null
  if (
    isGiven &&
    Object.keys(resources.resourceAttributesEnvDetector.detect().attributes ?? {}).length === 0
  ) {
    log.warn(
      'OTEL_RESOURCE_ATTRIBUTES cannot be read and is ignored: write name=value, name=value, with %2C and %3D for commas and equals signs in them',
    )
  }
  return resources.defaultResource().merge(own).merge(resources.detectResources({ detectors }))
}

function samplerFrom(sdk: typeof Sdk, { root, ratio, followsParent }: SamplerSettings): Sdk.Sampler {
  const samplers = {
    all: () => new sdk.AlwaysOnSampler(),
    none: () => new sdk.AlwaysOffSampler(),
    ratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }
  const sampler = samplers[root]()
  return followsParent ? new sdk.ParentBasedSampler({ root: sampler }) : sampler
}

function batchOptions(batch: BatchSettings): Omit<Sdk.BatchSpanProcessorOptions, 'exporter'> {
  return {
    scheduledDelayMillis: batch.delayMs,
    exportTimeoutMillis: batch.timeoutMs,
    maxQueueSize: batch.queueMax,
    maxExportBatchSize: batch.batchMax,
  }
}
