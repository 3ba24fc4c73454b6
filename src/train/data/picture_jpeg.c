/* Decodes JPEG with libjpeg-turbo. The library reports errors with longjmp(). Everything that must
 * be freed is therefore in a variable of the function that calls setjmp(). After the jump this
 * function reads only variables that do not change after setjmp(), and `info` and `catcher`, which
 * stay in memory because the library has their addresses. */
#include "train/data/picture_internal.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h> /* needs stdio.h first */

enum { SCANS_MAX = 100 }; /* a picture with more scans is rejected, because each scan costs time */

/* The error handler of the library, with the message and the state that setjmp() has saved. */
struct catcher {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr info)
{
    struct catcher *catcher = (struct catcher *)info->err;
    info->err->format_message(info, catcher->message);
    longjmp(catcher->jump, 1);
}

static void on_warning(j_common_ptr info, int level)
{
    (void)info, (void)level; /* a damaged picture is decoded as far as possible */
}

static void on_progress(j_common_ptr info)
{
    struct catcher *catcher = (struct catcher *)info->err;
    if (((j_decompress_ptr)info)->input_scan_number > SCANS_MAX) {
        snprintf(catcher->message, sizeof(catcher->message), "it has more than %d scans",
                 SCANS_MAX);
        longjmp(catcher->jump, 1);
    }
}

static int read_rows(struct jpeg_decompress_struct *info, struct picture *ret, struct err *err)
{
    jpeg_read_header(info, TRUE);
    if (info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK)
        return err_set(err, ERR_UNSUPPORTED, "this JPEG picture is in CMYK: save it as RGB");
    info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    int result = picture_allocate(ret, info->image_width, info->image_height,
                                  info->num_components == 1 ? 1 : 3, err);
    if (result < 0)
        return result;
    jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = ret->pixels + (size_t)info->output_scanline * ret->width * ret->channels;
        jpeg_read_scanlines(info, &row, 1);
    }
    jpeg_finish_decompress(info);
    return 0;
}

int picture_decode_jpeg(const uint8_t *data, size_t size, struct picture *ret, struct err *err)
{
    struct jpeg_decompress_struct info;
    struct catcher catcher;
    struct jpeg_progress_mgr progress = {.progress_monitor = on_progress};
    info.err = jpeg_std_error(&catcher.manager);
    catcher.manager.error_exit = on_error;
    catcher.manager.emit_message = on_warning;
    jpeg_create_decompress(&info);
    info.progress = &progress;
    int result;
    if (setjmp(catcher.jump)) {
        result =
            err_set(err, ERR_BAD_REQUEST, "this JPEG picture cannot be read: %s", catcher.message);
    } else {
        jpeg_mem_src(&info, data, size);
        result = read_rows(&info, ret, err);
    }
    jpeg_destroy_decompress(&info);
    return result;
}
