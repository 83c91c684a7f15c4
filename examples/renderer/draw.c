/* The graphics pipeline: no vertices but what pond.vert makes of the heights. */
#include "pond.h"

#include "pond_frag.h"
#include "pond_vert.h"

typedef struct constants {
    float aspect;
    int32_t side;
} constants;

static int create_layout(pond *p, gpu *g)
{
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_VERTEX_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = 1,
                                           .pBindings = &binding};
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_VERTEX_BIT,
                                 .size = sizeof(constants)};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &p->set_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &range};
    return failed("vkCreateDescriptorSetLayout",
                  vkCreateDescriptorSetLayout(g->device, &set, NULL, &p->set_layout)) ||
           failed("vkCreatePipelineLayout",
                  vkCreatePipelineLayout(g->device, &info, NULL, &p->layout));
}

static int create_set(pond *p, gpu *g)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    if (failed("vkCreateDescriptorPool",
               vkCreateDescriptorPool(g->device, &pool, NULL, &p->pool))) {
        return 1;
    }
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = p->pool,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &p->set_layout};
    if (failed("vkAllocateDescriptorSets", vkAllocateDescriptorSets(g->device, &info, &p->set))) {
        return 1;
    }
    VkDescriptorBufferInfo heights = {.buffer = p->drawn, .range = VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = p->set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = &heights};
    vkUpdateDescriptorSets(g->device, 1, &write, 0, NULL);
    return 0;
}

static int create_module(gpu *g, const uint32_t *words, size_t size, VkShaderModule *out)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    return failed("vkCreateShaderModule", vkCreateShaderModule(g->device, &info, NULL, out));
}

static int create_pipeline(pond *p, gpu *g, VkFormat format, const VkShaderModule modules[2])
{
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = modules[0],
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = modules[1],
         .pName = "main"}};
    VkPipelineRenderingCreateInfo rendering = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               .colorAttachmentCount = 1,
                                               .pColorAttachmentFormats = &format};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment};
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = LENGTH(states),
        .pDynamicStates = states};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .pNext = &rendering,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &input,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &viewport,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pColorBlendState = &blend,
                                         .pDynamicState = &dynamic,
                                         .layout = p->layout};
    return failed(
        "vkCreateGraphicsPipelines",
        vkCreateGraphicsPipelines(g->device, VK_NULL_HANDLE, 1, &info, NULL, &p->graphics));
}

int pond_create_drawing(pond *p, gpu *g, VkFormat format)
{
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    int result = create_layout(p, g) || create_set(p, g) ||
                 create_module(g, pond_vert, sizeof pond_vert, &modules[0]) ||
                 create_module(g, pond_frag, sizeof pond_frag, &modules[1]) ||
                 create_pipeline(p, g, format, modules);
    vkDestroyShaderModule(g->device, modules[0], NULL);
    vkDestroyShaderModule(g->device, modules[1], NULL);
    return result;
}

void pond_draw(const pond *p, VkCommandBuffer commands, VkImageView view, VkExtent2D extent)
{
    VkRenderingAttachmentInfo colour = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                        .imageView = view,
                                        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                        .clearValue.color.float32 = {0.004f, 0.005f, 0.012f, 1}};
    VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                 .renderArea = {{0, 0}, extent},
                                 .layerCount = 1,
                                 .colorAttachmentCount = 1,
                                 .pColorAttachments = &colour};
    VkViewport viewport = {0, 0, (float)extent.width, (float)extent.height, 0, 1};
    constants values = {(float)extent.width / (float)extent.height, POND_SIDE};
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->graphics);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->layout, 0, 1, &p->set, 0,
                            NULL);
    vkCmdPushConstants(commands, p->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof values, &values);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
    vkCmdDraw(commands, 6 * (POND_SIDE - 1) * (POND_SIDE - 1), 1, 0, 0);
    vkCmdEndRendering(commands);
}

void pond_destroy_drawing(pond *p, gpu *g)
{
    vkDestroyPipeline(g->device, p->graphics, NULL);
    vkDestroyDescriptorPool(g->device, p->pool, NULL);
    vkDestroyPipelineLayout(g->device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(g->device, p->set_layout, NULL);
}
